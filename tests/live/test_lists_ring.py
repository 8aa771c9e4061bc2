"""The bells of lists: every run that moves rings them, with a number alone; the desk's is for managers."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from approvals.topics import inbox_number
from runs import bells, commands
from runs.views import desk
from tenants import live, topics
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.plays import Play


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> Callable[..., list[str]]:
    """The topics that rang while something was done, once it was committed."""

    def during(act: Callable[[], Any]) -> list[str]:
        found: list[str] = []
        monkeypatch.setattr(live._ringer, "ring", lambda _tenant, topic, _seq: found.append(topic))
        with django_capture_on_commit_callbacks(execute=True):
            act()
        return found

    return during


def test_a_run_rings_the_list_when_it_moves_and_not_with_every_step(
    rung: Callable[..., list[str]], play: Callable[..., Play], acme: Tenant, mona: Member, alice: Member
) -> None:
    run = play()
    assert "runs" in rung(play)
    assert "runs" in rung(run.take)
    assert "runs" not in rung(run.holder.open_turn)
    steps: list[int] = []
    assert "runs" not in rung(lambda: steps.extend(run.wants(("refund", {"order": "A", "amount": "1"}))))
    assert "runs" in rung(lambda: run.park(*steps))

    def cancel() -> None:
        with scope(acme.pk):
            commands.cancel(run.run.pk, actor=actor(mona))

    assert {"runs", "outcomes", run.subject} <= set(rung(cancel))


def test_a_lost_call_rings_the_desk_and_so_does_its_settling(
    rung: Callable[..., list[str]], play: Callable[..., Play], acme: Tenant, mona: Member
) -> None:
    run = play().begin()
    (label,) = run.wants(("label", {"order": "A-2", "card": "4111"}))
    assert "outcomes" in rung(lambda: run.lost(label))
    run.attention("unknown_outcome")

    def settle() -> None:
        with scope(acme.pk):
            commands.settle(run.run.pk, label, outcome="not_done", note="Asked.", actor=actor(mona))

    assert {"runs", "outcomes"} <= set(rung(settle))


def test_the_desk_rings_for_managers_alone(acme: Tenant, mona: Member, alice: Member) -> None:
    with scope(acme.pk):
        assert set(topics.numbers(mona, ["runs", "outcomes"])) == {"runs", "outcomes"}
        assert set(topics.numbers(alice, ["runs", "outcomes", "runs:x"])) == {"runs"}


def test_a_page_made_while_a_change_is_not_yet_committed_hears_of_it(
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
    parked_run: Play,
    acme: Tenant,
    mona: Member,
) -> None:
    """It has seen the former rows, and its number must be lower than the one that rings."""
    rung: dict[str, int] = {}
    monkeypatch.setattr(live._ringer, "ring", lambda _tenant, topic, seq: rung.update({topic: seq}))
    with django_capture_on_commit_callbacks(execute=True), scope(acme.pk):
        commands.cancel(parked_run.run.pk, actor=actor(mona))
        pages = {"runs": bells.number(), "outcomes": desk.desk(mona, base="/t/acme/", chosen=None).seq}
        inbox = inbox_number()
        time.sleep(0.002)
    assert all(rung[topic] > (seq or 0) for topic, seq in pages.items())
    assert rung["inbox"] > inbox


def test_a_page_takes_its_number_before_it_reads(acme: Tenant, mona: Member) -> None:
    reads: list[int] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        if '"runs_run"' in sql or '"runs_step"' in sql:
            time.sleep(0.002)
            reads.append(bells.number())
        return execute(sql, *rest)

    client = Client()
    client.force_login(mona.person)
    for path in ("runs/", "outcomes/"):
        reads.clear()
        with connection.execute_wrapper(note):
            html = client.get(f"/t/acme/{path}").content.decode()
        shown = re.search(r'data-watch="(?:runs|outcomes)"[^>]* data-seq="(\d+)"', html)
        assert shown, path
        assert int(shown[1]) < reads[0]


def test_what_rang_before_a_page_listened_is_told_once_it_listens(acme: Tenant, mona: Member) -> None:
    later = bells.number() + 60_000
    live.ring_now("outcomes", later, tenant=acme.pk)
    live._ringer.flush()
    with scope(acme.pk):
        numbers = topics.numbers(mona, ["runs", "outcomes"])
    assert numbers["outcomes"] == later
    assert numbers["runs"] < later


def test_a_list_has_a_number_while_nobody_knows_what_rang(
    acme: Tenant, mona: Member, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CHANNEL_URL = "unix:///nowhere/valkey.sock"
    monkeypatch.setattr(live._ringer, "bell", live.Bell())
    with scope(acme.pk):
        assert topics.numbers(mona, ["outcomes"])["outcomes"] > 0
