"""GET of a run's events: in order, after a number, and awaited without holding a connection."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from runs import commands
from tenants import members
from tenants.models import Member
from tenants.scope import scope
from tests.cast.people import Key
from tests.cast.plays import Play
from tests.harness.live import LiveServer

EVENT = ["seq", "name", "at", "actor", "message", "data"]
ACTOR = ["kind", "id", "name", "member"]


def say(play: Play, member: Member, text: str) -> None:
    with scope(play.tenant.pk):
        commands.comment(play.run.pk, text=text, actor=members.actor_of(member))


@pytest.fixture
def listen(client: Client, mona_key: Key) -> Callable[..., Any]:
    """GET of the events as Mona."""

    def ask(play: Play, query: str = "") -> Any:
        response = client.get(f"/api/v1/runs/{play.id}/events{query}", headers=mona_key.headers)
        assert response.status_code == 200, response.content
        return json.loads(response.content)

    return ask


def test_events_come_in_order_without_a_gap(listen: Callable[..., Any], parked_run: Play) -> None:
    page = listen(parked_run)
    items = page["items"]
    assert [item["seq"] for item in items] == list(range(1, len(items) + 1))
    assert [list(item) for item in items] == [EVENT] * len(items)
    assert [list(item["actor"]) for item in items] == [ACTOR] * len(items)
    assert (items[0]["name"], items[-1]["name"]) == ("run.queued", "run.waiting")
    asked = next(item for item in items if item["name"] == "approval.requested")
    assert asked["data"]["request"]
    assert page["next"] is None


def test_events_after_a_number_and_page_by_page(listen: Callable[..., Any], parked_run: Play) -> None:
    everything = listen(parked_run)["items"]
    assert listen(parked_run, "?after=2")["items"] == everything[2:]
    assert listen(parked_run, f"?after={len(everything)}") == {"items": [], "next": None}
    first = listen(parked_run, "?limit=3")
    second = listen(parked_run, f"?limit=3&cursor={first['next']}")
    assert first["items"] + second["items"] == everything[:6]


@pytest.mark.parametrize("query", ["after=-1", "after=x", "wait=61", "wait=-1", "wait=x", "limit=0"])
def test_a_wait_without_bounds_is_refused(client: Client, mona_key: Key, parked_run: Play, query: str) -> None:
    response = client.get(f"/api/v1/runs/{parked_run.id}/events?{query}", headers=mona_key.headers)
    assert response.status_code == 422


def test_what_is_there_already_is_not_waited_for(listen: Callable[..., Any], parked_run: Play) -> None:
    began = time.monotonic()
    assert listen(parked_run, "?wait=30")["items"]
    assert time.monotonic() - began < 5


@pytest.fixture
def far(live_server: LiveServer, mona_key: Key) -> Iterator[httpx.Client]:
    """A client of the real server."""
    with httpx.Client(base_url=f"{live_server.url}/api/v1", headers=mona_key.headers, timeout=30) as made:
        yield made


def test_a_waiting_client_is_told_at_once(far: httpx.Client, parked_run: Play, mona: Member) -> None:
    last = far.get(f"/runs/{parked_run.id}/events").json()["items"][-1]["seq"]
    told: list[tuple[float, Any]] = []

    def listen() -> None:
        answer = far.get(f"/runs/{parked_run.id}/events", params={"after": last, "wait": 20})
        told.append((time.monotonic(), answer.json()))

    thread = threading.Thread(target=listen)
    thread.start()
    time.sleep(1.2)
    said = time.monotonic()
    say(parked_run, mona, "Look at this.")
    thread.join(20)
    ((at, page),) = told
    assert [(item["seq"], item["message"]) for item in page["items"]] == [(last + 1, "Look at this.")]
    assert at - said < 0.9  # The bell rang; the next look alone would come a second after the last one.


def test_a_wait_ends_empty_after_its_time(far: httpx.Client, parked_run: Play) -> None:
    began = time.monotonic()
    answer = far.get(f"/runs/{parked_run.id}/events", params={"after": 1000, "wait": 1})
    assert answer.json() == {"items": [], "next": None}
    assert 0.9 < time.monotonic() - began < 5


def test_waiting_clients_hold_no_connection(far: httpx.Client, parked_run: Play) -> None:
    waiting = settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"] + 4
    with ThreadPoolExecutor(waiting) as threads:
        params = {"after": 1000, "wait": 6}
        answers = [threads.submit(far.get, f"/runs/{parked_run.id}/events", params=params) for _ in range(waiting)]
        until = time.monotonic() + 5
        seen = []
        while time.monotonic() < until:
            stats = connection.pool.get_stats()  # type: ignore[attr-defined]
            seen.append(stats["pool_size"] - stats["pool_available"])
            time.sleep(0.01)
        assert not any(answer.done() for answer in answers)
        assert {answer.result().json()["next"] for answer in answers} == {None}
    # The test's own connection is the one that is out most of the time.
    assert sorted(seen)[len(seen) // 2] <= 1


def test_a_client_that_goes_away_leaves_nothing_behind(far: httpx.Client, parked_run: Play) -> None:
    with pytest.raises(httpx.ReadTimeout):
        far.get(f"/runs/{parked_run.id}/events", params={"after": 1000, "wait": 20}, timeout=0.5)
    assert far.get(f"/runs/{parked_run.id}/events", params={"after": 1000, "wait": 0}).status_code == 200


def test_who_loses_the_right_hears_no_more(far: httpx.Client, parked_run: Play, mona: Member) -> None:
    with scope(parked_run.tenant.pk):
        members.add("other@acme.example", actor=members.actor_of(mona), roles=["admin"])
    answers: list[httpx.Response] = []
    thread = threading.Thread(
        target=lambda: answers.append(far.get(f"/runs/{parked_run.id}/events", params={"after": 1000, "wait": 10}))
    )
    thread.start()
    time.sleep(0.7)
    with scope(parked_run.tenant.pk):
        members.change(mona.pk, actor=members.actor_of(mona), roles=[])
        say(parked_run, mona, "Secret.")
    thread.join(15)
    assert answers[0].status_code == 404
    assert "Secret" not in answers[0].text
