"""Agents stopped and started, agents and tools switched: who may, what it does to runs, what is refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from runs import commands
from runs.models import Run
from tenants import events, stamps
from tenants.models import AuditEntry, Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast.people import Key, actor, make_key
from tests.cast.plays import Play, announce, standing, switch_on

Plays = Callable[..., Play]


def send(key: Key, verb: str, path: str, body: Any = None, **headers: str) -> Any:
    text = "" if body is None else json.dumps(body)
    every = {**key.headers, **headers}
    return getattr(Client(), verb)(f"/api/v1{path}", text, content_type="application/json", headers=every)


def statuses(tenant: Tenant) -> dict[str, str]:
    with scope(tenant.pk):
        return dict(Run.objects.values_list("title", "status"))


def actions(tenant: Tenant) -> list[str]:
    with scope(tenant.pk):
        return list(AuditEntry.objects.order_by("seq").values_list("action", flat=True))


def stamp(tenant: Tenant) -> int:
    with scope(tenant.pk):
        return stamps.read()


def test_stopping_an_agent_pauses_its_runs_and_starting_resumes_only_those(
    acme: Tenant, play: Plays, parked_run: Play, mona: Member, mona_key: Key
) -> None:
    play(title="Queued")
    other = play(title="Paused by hand")
    with scope(acme.pk):
        commands.pause(other.run.pk, actor=actor(mona))
    play(title="Over").begin().finish()
    before = stamp(acme)

    answer = send(mona_key, "post", "/agents/clerk/stop")
    assert (answer.status_code, answer.json()["stopped"]) == (200, True), answer.content
    assert stamp(acme) > before
    assert statuses(acme) == {
        "Broken cup": "paused",
        "Queued": "paused",
        "Paused by hand": "paused",
        "Over": "succeeded",
    }
    assert parked_run.fresh().reason == "agent_stopped"
    with scope(acme.pk):
        last = events.after(parked_run.subject, 0, 100)[-1]
    assert (last.name, last.actor["name"], last.data["reason"]) == ("run.paused", "Mona", "agent_stopped")
    assert actions(acme)[-3:] == ["agent.changed", "run.paused", "run.paused"]

    answer = send(mona_key, "post", "/agents/clerk/start")
    assert (answer.status_code, answer.json()["stopped"]) == (200, False)
    assert statuses(acme) == {
        "Broken cup": "queued",
        "Queued": "queued",
        "Paused by hand": "paused",
        "Over": "succeeded",
    }


def test_of_a_stopped_agent_no_run_starts_resumes_or_is_retried(
    acme: Tenant, play: Plays, mona: Member, mona_key: Key
) -> None:
    failed = play(title="Failed").begin()
    failed.fail()
    paused = play(title="Under way")
    send(mona_key, "post", "/agents/clerk/stop")
    assert send(mona_key, "post", "/runs", {"agent": "clerk", "input": "go"}).json()["code"] == "agent_stopped"
    for run, verb in ((paused, commands.resume), (failed, commands.retry)):
        with scope(acme.pk), pytest.raises(Refusal) as refused:
            verb(run.run.pk, actor=actor(mona))
        assert refused.value.code == "agent_stopped"


def test_stopping_again_finishes_what_was_broken_off(acme: Tenant, play: Plays, mona_key: Key) -> None:
    run = play(title="Left behind")
    switch_on(acme, stopped=True)
    assert send(mona_key, "post", "/agents/clerk/stop").status_code == 200
    assert run.fresh().status == "paused"


def test_a_repeated_stop_under_its_key_does_not_undo_a_start(acme: Tenant, play: Plays, mona_key: Key) -> None:
    run = play(title="Under way")
    again = {"Idempotency-Key": "stop-1"}
    first = send(mona_key, "post", "/agents/clerk/stop", **again)
    send(mona_key, "post", "/agents/clerk/start")
    second = send(mona_key, "post", "/agents/clerk/stop", **again)
    assert first.json() == second.json()
    assert run.fresh().status == "queued"


@pytest.mark.parametrize("role", ["reviewer", "admin"])
def test_only_a_manager_stops_an_agent(
    acme: Tenant, play: Plays, alice_key: Key, ravi_key: Key, mona: Member, role: str
) -> None:
    key = alice_key if role == "reviewer" else ravi_key
    for verb in ("stop", "start"):
        answer = send(key, "post", f"/agents/clerk/{verb}")
        assert (answer.status_code, answer.json()["code"]) == (403, "no_role")
    assert send(make_key(mona, "runs:read"), "post", "/agents/clerk/stop").json()["code"] == "no_scope"
    assert "agent.changed" not in actions(acme)[-3:]
    assert actions(acme)[-1] == "request.refused"


def test_an_agent_that_is_not_here_cannot_be_stopped(acme: Tenant, play: Plays, mona_key: Key) -> None:
    for name in ("nobody", "cler"):
        assert send(mona_key, "post", f"/agents/{name}/stop").status_code == 404


def test_a_manager_barred_from_a_restricted_agent_cannot_stop_it(acme: Tenant, play: Plays, mona_key: Key) -> None:
    switch_on(acme, restricted=True)
    assert send(mona_key, "post", "/agents/clerk/stop").json()["code"] == "restricted"


def test_an_admin_switches_an_agent_on_and_off(acme: Tenant, ravi_key: Key, mona_key: Key) -> None:
    announce()
    assert send(ravi_key, "patch", "/agents/clerk", {"enabled": True}).json()["enabled"] is True
    assert send(mona_key, "post", "/runs", {"agent": "clerk", "input": "go"}).status_code == 201
    assert send(ravi_key, "patch", "/agents/clerk", {"enabled": False}).json()["enabled"] is False
    assert send(mona_key, "post", "/runs", {"agent": "clerk", "input": "go"}).status_code == 404
    assert "clerk" not in standing(acme.pk).agents
    assert send(ravi_key, "patch", "/agents/nobody", {"enabled": True}).status_code == 404
    assert send(mona_key, "patch", "/agents/clerk", {"enabled": True}).status_code == 403
    for body in ({}, {"enabled": None}, {"enabled": True, "stopped": True}):
        assert send(ravi_key, "patch", "/agents/clerk", body).status_code == 422


def test_a_tools_risk_is_raised_and_never_lowered(acme: Tenant, play: Plays, ravi_key: Key) -> None:
    before = stamp(acme)
    raised = send(ravi_key, "patch", "/tools/refund", {"risk": "critical"})
    assert (raised.status_code, raised.json()["risk"], raised.json()["lowest_risk"]) == (200, "critical", "high")
    assert stamp(acme) > before
    assert standing(acme.pk).risks == {"refund": "critical"}
    for risk in ("medium", "low", "huge"):
        refused = send(ravi_key, "patch", "/tools/refund", {"risk": risk})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "risk")
    assert "never lowered" in send(ravi_key, "patch", "/tools/refund", {"risk": "low"}).json()["detail"]
    assert standing(acme.pk).risks == {"refund": "critical"}
    assert send(ravi_key, "patch", "/tools/refund", {"risk": None}).json()["risk"] == "high"


def test_a_tool_is_switched_off_and_its_risk_stays(acme: Tenant, play: Plays, ravi_key: Key) -> None:
    send(ravi_key, "patch", "/tools/refund", {"risk": "critical"})
    off = send(ravi_key, "patch", "/tools/refund", {"enabled": False}).json()
    assert (off["enabled"], off["risk"]) == (False, "critical")
    assert standing(acme.pk).off == {"refund"}
    assert actions(acme)[-2:] == ["tool.changed", "tool.changed"]


def test_who_may_not_change_a_tool_changes_nothing(
    acme: Tenant, play: Plays, mona_key: Key, alice_key: Key, stranger_key: Key
) -> None:
    for key in (mona_key, alice_key):
        assert send(key, "patch", "/tools/refund", {"enabled": False}).status_code == 403
    send(stranger_key, "patch", "/tools/refund", {"enabled": False})
    assert standing(acme.pk).off == frozenset()
    assert send(stranger_key, "patch", "/tools/no-such", {"enabled": False}).status_code == 404


def test_one_agent_and_one_tool_can_be_read(acme: Tenant, play: Plays, alice_key: Key, stranger_key: Key) -> None:
    read = Client()
    agent = read.get("/api/v1/agents/clerk", headers=alice_key.headers).json()
    assert agent == read.get("/api/v1/agents", headers=alice_key.headers).json()["items"][0]
    tool = read.get("/api/v1/tools/refund", headers=alice_key.headers).json()
    assert tool in read.get("/api/v1/tools", headers=alice_key.headers).json()["items"]
    assert read.get("/api/v1/agents/nobody", headers=alice_key.headers).status_code == 404
