"""kill -9 inside a call: what follows depends on the effect, and the far side's ledger proves it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from approvals import rules
from runs import commands
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call

pytestmark = pytest.mark.faults


def outlive(workers: Any, tenant: Tenant, *ids: UUID, within: float = 90) -> None:
    """Start workers again as often as they die, until no run is queued, running or asleep."""

    def still() -> bool:
        if any(process.poll() is not None for process in workers.processes):
            workers.restart_all()
        return all(runs.read(tenant, run).status not in ("queued", "running", "sleeping") for run in ids)

    runs.so(still, lambda: f"{[runs.read(tenant, run).status for run in ids]}\n{workers.log[-3000:]}", within=within)


def test_what_a_crash_leads_to_follows_the_effect(
    own_workers: Callable[..., Any], acme: Tenant, mona: Member, tmp_path: Path
) -> None:
    workers = own_workers(n=1, threads=8, EMAIL_URL=f"filemail:///{tmp_path}")
    repeated = [runs.start(acme, [call(tool, how="die:1")]) for tool in ("look", "set_it", "pay")]
    found = runs.start(acme, [call("deliver", how="die:1")])
    blind = runs.start(acme, [call("deliver", how="blind")])
    unknown = runs.start(acme, [call("send", how="die:1")])
    turn = runs.start(acme, {"fail": "die", "then": [call("pay")]})
    twice = runs.start(acme, [call("pay", how="die:1")], [call("pay", amount=2)], [call("set_it", how="die:1")])
    outlive(workers, acme, *repeated, found, blind, unknown, turn, twice)
    for run in repeated:
        _was_repeated_under_one_key(acme, run)
    assert runs.read(acme, found).status == "succeeded"
    assert len(ledger.acts(found)) == 1, "the lookup found it, so it was not done again"
    for run in (blind, unknown):
        assert (runs.read(acme, run).status, runs.read(acme, run).reason) == ("needs_attention", "unknown_outcome")
        assert len(ledger.acts(run)) == 1
        (step,) = runs.calls(acme, run)
        assert step.status == "unknown"
        place = f"/outcomes/?step={run}-{step.seq}"
        runs.so(lambda place=place: _mails(tmp_path).count(place) == 2, lambda: _mails(tmp_path))  # As text and HTML.
    assert [line["turn"] for line in ledger.asked(turn)] == [0, 0, 1]
    assert len(ledger.acts(turn)) == 1
    assert runs.read(acme, twice).status == "succeeded"
    assert len({line["key"] for line in ledger.acts(twice)}) == 3
    assert runs.story(acme, twice).count("run.recovered") == 2


def _mails(folder: Path) -> str:
    """Everything that was written to anybody, as it was before the lines were folded for the way."""
    return "".join(each.read_text() for each in folder.iterdir()).replace("=\n", "").replace("=3D", "=")


def _was_repeated_under_one_key(tenant: Tenant, run: UUID) -> None:
    assert runs.read(tenant, run).status == "succeeded"
    assert len(ledger.acts(run)) == 2
    assert len({line["key"] for line in ledger.acts(run)}) == 1
    (step,) = runs.calls(tenant, run)
    assert [each.cause for each in runs.attempts(tenant, run, step.seq)] == ["crashed", ""]


def test_a_parked_run_does_not_notice_that_everything_was_killed(
    own_workers: Callable[..., Any], acme: Tenant, alice: Member
) -> None:
    workers = own_workers(n=2)
    run = runs.start(acme, [call("refund", amount=7)])
    runs.until(acme, run, "waiting_approval")
    before = runs.requests(acme, run)[0]
    workers.kill_all()
    workers.restart_all()
    (after,) = runs.requests(acme, run)
    assert (after.pk, after.deadline) == (before.pk, before.deadline)
    runs.decide(alice, after)
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1
    assert len(ledger.asked(run)) == 2


def test_a_rejection_while_no_worker_lives_stands_when_one_comes(
    own_workers: Callable[..., Any], acme: Tenant, alice: Member
) -> None:
    workers = own_workers(n=1)
    run = runs.start(acme, [call("refund"), call("pay")])
    runs.until(acme, run, "waiting_approval")
    workers.kill_all()
    runs.decide(alice, runs.requests(acme, run)[0], "reject", comment="too much")
    with scope(acme.pk):  # Case 38: a rule that would let the call pass by now does not settle it again.
        rules.create_rule(actor=COMMAND, name="Free", tools=["refund"], outcome="allow")
    workers.restart_all()
    runs.until(acme, run, "succeeded")
    assert [line["tool"] for line in ledger.acts(run)] == ["pay"]
    assert sum("too much" in text for text in ledger.asked(run)[-1]["told"]) == 1


def test_a_run_at_which_three_workers_died_is_handed_to_a_person(own_workers: Callable[..., Any], acme: Tenant) -> None:
    workers = own_workers(n=1, threads=1)
    run = runs.start(acme, [call("look", how="die:9")])
    outlive(workers, acme, run, within=60)
    found = runs.read(acme, run)
    assert (found.status, found.reason) == ("needs_attention", "crash_loop")
    assert len(ledger.acts(run)) == 3


def test_a_cancelled_run_whose_worker_died_is_looked_up_and_never_called_again(
    own_workers: Callable[..., Any], acme: Tenant, mona: Member
) -> None:
    workers = own_workers(n=1)
    asked, unknown = (runs.start(acme, [call(tool, how="sleep:20")]) for tool in ("deliver", "send"))
    for run in (asked, unknown):
        runs.so(lambda run=run: ledger.acts(run))
        runs.do(acme, commands.cancel, run, by=mona)
    workers.kill()
    workers.restart()
    runs.so(lambda: runs.calls(acme, asked)[0].status == "completed", lambda: str(runs.story(acme, asked)))
    runs.so(lambda: runs.calls(acme, unknown)[0].status == "unknown", lambda: str(runs.story(acme, unknown)))
    for run in (asked, unknown):
        assert runs.read(acme, run).status == "cancelled"
        assert len(ledger.acts(run)) == 1
