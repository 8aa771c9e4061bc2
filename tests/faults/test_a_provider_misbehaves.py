"""A real provider's client in a real worker, and a service that does to it whatever services do."""

import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from tenants.models import Tenant
from tests.agents import ledger
from tests.cast import runs
from tests.harness.provider import Stub, cut, openai

pytestmark = pytest.mark.faults

DOWN = {"error": {"message": "down", "type": "x", "code": "y"}}


def test_a_run_goes_on_through_whatever_its_provider_does(
    own_workers: Callable[..., Any], acme: Tenant, stub: Stub
) -> None:
    """A cut answer, a 429 with a date, 500 twice, no JSON, no answer in time; then a call, and the end."""
    pays = {"id": "a", "name": "pay", "arguments": '{"amount": 7, "rationale": "owed"}'}
    address = f"{stub.url}/v1"
    own_workers(
        n=1, AGENT_MODULES="tests.agents.provided", LEASE_SECONDS="60", MODEL_TIMEOUT="2", OPENAI_BASE_URL=address
    )
    until = int(time.time()) + 3
    stub.answers = [
        cut,
        (429, {"retry-after": formatdate(until, usegmt=True)}, DOWN),
        (500, {}, DOWN),
        (500, {}, DOWN),
        (200, {}, b"<html>gateway</html>"),
        lambda _: time.sleep(3),
        openai(None, pays, finish="tool_calls"),
        openai("all is paid"),
    ]
    run = runs.start(acme, agent="provided")
    runs.until(acme, run, "succeeded", within=60)
    assert [line["args"] for line in ledger.acts(run)] == [{"amount": "7"}]
    bodies = [each["body"] for each in stub.seen]
    assert len(bodies) == 8
    assert all(body == bodies[0] for body in bodies[:7]), "the same question each time"
    assert bodies[7]["messages"][-1]["tool_call_id"] == "a"
    assert stub.seen[2]["at"] >= until, "the date that was told is kept"
    turn, _, last = runs.steps(acme, run).steps
    causes = [each.cause for each in runs.attempts(acme, run, turn.seq)]
    assert causes == ["connection", "rate_limited", "server", "server", "server", "timeout", ""]
    assert (turn.tokens_in, turn.tokens_out, last.tokens_total) == (11, 7, 36)
    assert "sk-secret" not in str([event.message for event in runs.events_of(acme, run)])
