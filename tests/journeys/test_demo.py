"""`make demo`, as a stranger meets it: two organisations, a refund that is paid once, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from typing import Any

import httpx
import pytest

from examples.refund_desk import place
from examples.refund_desk.people import ORGANISATIONS, PASSWORD
from examples.refund_desk.sending import Outbox
from tests.faults.test_up import ROOT, SLOW, TOLD, Up, up, wait_for

__all__ = ["up"]
pytestmark = pytest.mark.journey


@pytest.fixture
def demo(up: Callable[..., Up], monkeypatch: pytest.MonkeyPatch) -> Up:
    running = up("--with", "examples.refund_desk.processes")
    monkeypatch.setenv("LOCAL_DIR", str(running.base))
    assert wait_for(lambda: "Carrier" in running.said and running.answers(), within=2 * SLOW), running.said
    return running


def command(demo: Up, *words: str) -> str:
    """A command in the demo's own surroundings; what it printed."""
    env = {name: text for name, text in os.environ.items() if not name.startswith(TOLD)}
    env |= {"LOCAL_DIR": str(demo.base), "PORT": str(demo.port)}
    told = subprocess.run([sys.executable, *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    return told.stdout.strip()


def api(demo: Up, tenant: str, email: str, *scopes: str) -> httpx.Client:
    words = [word for scope in scopes for word in ("--scope", scope)]
    key = command(demo, "manage.py", "create_key", tenant, email, *words)
    base = f"http://localhost:{demo.port}/api/v1"
    return httpx.Client(base_url=base, headers={"Authorization": f"Bearer {key}"}, timeout=30)


def pending(client: httpx.Client, run: str, tool: str) -> dict[str, Any]:
    """The request of this run for this tool, once it waits."""
    found: list[dict[str, Any]] = []

    def look() -> bool:
        items = client.get("/approval-requests", params={"status": "pending", "tool": tool, "limit": 200}).json()[
            "items"
        ]
        found[:] = [item for item in items if item["run"] == run]
        return bool(found)

    assert wait_for(look, within=30), f"The run never asked for {tool}."
    (request,) = found
    return request


def approve(client: httpx.Client, request: dict[str, Any]) -> None:
    body = {"decision": "approve", "version": request["version"]}
    answer = client.post(f"/approval-requests/{request['id']}/decisions", json=body)
    assert answer.status_code == 201, answer.text


def entries(service: str, path: str) -> list[dict[str, Any]]:
    with httpx.Client(base_url=place.url(service), trust_env=False) as client:
        items: list[dict[str, Any]] = client.get(path).json()["items"]
        return items


def test_case_one_parks_twice_and_is_paid_and_told_once(demo: Up) -> None:
    everything = ("runs:read", "runs:start", "approvals:read", "approvals:decide")
    with (
        closing(api(demo, "globex", "sam@acme.example", *everything)) as sam,
        closing(api(demo, "globex", "lina@globex.example", *everything)) as lina,
    ):
        run = sam.post("/runs", json={"agent": "refund-desk", "input": {"case": "1"}}).json()["id"]
        refund = pending(lina, run, "refund")
        assert entries("ledger", "/refunds?order_id=A-1001") == []
        approve(lina, refund)
        approve(lina, pending(lina, run, "send_email"))
        assert wait_for(lambda: sam.get(f"/runs/{run}").json()["status"] == "succeeded", within=30)
        assert sam.get(f"/runs/{run}").json()["result"] == "Refunded 129.00 EUR for order A-1001 and told the customer."
    assert [entry["amount"] for entry in entries("ledger", "/refunds?order_id=A-1001")] == ["129.00"]
    assert len(entries("mail", "/messages?to=purchasing@nordlicht.example")) == 1
    assert_greeting(demo)
    assert_first_cases_came_in()
    assert_loading_again_changes_nothing(demo)
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.wait(60) == 0
    assert demo.left() == []
    assert "Traceback" not in demo.said


def assert_greeting(demo: Up) -> None:
    for org in ORGANISATIONS:
        assert f"/t/{org.slug}/inbox/" in demo.said
        for person in org.people:
            assert person.email in demo.said
    assert PASSWORD in demo.said
    for service in ("form", "mail", "ledger", "carrier"):
        assert place.url(service) in demo.said


def assert_first_cases_came_in() -> None:
    outbox = Outbox()
    for org in ORGANISATIONS:
        assert wait_for(lambda o=org: set(outbox.last(o.slug)) == set(o.first_cases), within=SLOW)


def assert_loading_again_changes_nothing(demo: Up) -> None:
    with closing(api(demo, "acme", "ravi@acme.example", "settings:read")) as ravi:
        before = [
            ravi.get(path, params={"limit": 200}).json()["items"] for path in ("/members", "/groups", "/policies")
        ]
        keys = place.form_keys()
        command(demo, "-m", "examples.refund_desk.load")
        after = [ravi.get(path, params={"limit": 200}).json()["items"] for path in ("/members", "/groups", "/policies")]
    assert json.dumps(after) == json.dumps(before)
    assert place.form_keys() == keys
