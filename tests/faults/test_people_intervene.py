"""Cancel, pause, resume, retry, settle: what they stop, what they cannot, and what they let go on."""

from typing import Any

import pytest

from approvals import rules
from runs import commands
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call

pytestmark = pytest.mark.faults


def test_nothing_starts_after_a_cancel_that_came_before_the_model_answered(
    workers: Any, acme: Tenant, mona: Member
) -> None:
    run = runs.start(acme, {"fail": "sleep:1", "then": [call("pay"), call("set_it")]})
    runs.so(lambda: ledger.asked(run))
    runs.do(acme, commands.cancel, run, by=mona)
    runs.so(lambda: "step.completed" in runs.story(acme, run))
    workers.await_idle()
    assert ledger.acts(run) == []
    assert runs.read(acme, run).status == "cancelled"
    assert {(step.status, step.reason) for step in runs.calls(acme, run)} == {("declined", "cancelled")}


def test_a_call_in_hand_when_the_run_is_cancelled_is_recorded(workers: Any, acme: Tenant, mona: Member) -> None:
    run = runs.start(acme, [call("pay", amount=1, how="sleep:1"), call("pay", amount=2)])
    runs.so(lambda: ledger.acts(run))
    runs.do(acme, commands.cancel, run, by=mona)
    told = runs.events_of(acme, run)[-1]
    assert told.name == "run.cancelled"
    runs.so(lambda: runs.calls(acme, run)[0].status == "completed")
    assert [step.status for step in runs.calls(acme, run)] == ["completed", "declined"]
    assert len(ledger.acts(run)) == 1
    assert runs.read(acme, run).status == "cancelled"


def test_an_approval_after_the_cancel_finds_the_request_closed(
    workers: Any, acme: Tenant, mona: Member, alice: Member
) -> None:
    run = runs.start(acme, [call("refund")])
    runs.until(acme, run, "waiting_approval")
    (request,) = runs.requests(acme, run)
    runs.do(acme, commands.cancel, run, by=mona)
    with pytest.raises(Refusal):
        runs.decide(alice, request)
    workers.await_idle()
    assert len(runs.requests(acme, run, "cancelled")) == 1
    assert ledger.acts(run) == []


def test_a_paused_run_starts_nothing_and_goes_on_when_resumed(
    workers: Any, acme: Tenant, mona: Member, alice: Member
) -> None:
    run = runs.start(acme, [call("refund")])
    runs.until(acme, run, "waiting_approval")
    runs.do(acme, commands.pause, run, by=mona)
    runs.decide(alice, runs.requests(acme, run)[0])
    workers.await_idle()
    assert runs.read(acme, run).status == "paused"
    assert ledger.acts(run) == []
    runs.do(acme, commands.resume, run, by=mona)
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1


def test_a_pause_during_a_call_lets_it_end_and_starts_no_other(workers: Any, acme: Tenant, mona: Member) -> None:
    run = runs.start(acme, [call("pay", amount=1, how="sleep:0.6"), call("pay", amount=2)])
    runs.so(lambda: ledger.acts(run))
    runs.do(acme, commands.pause, run, by=mona)
    runs.so(lambda: runs.calls(acme, run)[0].status == "completed")
    workers.await_idle()
    assert len(ledger.acts(run)) == 1
    runs.do(acme, commands.resume, run, by=mona)
    runs.until(acme, run, "succeeded")
    assert [line["args"]["amount"] for line in ledger.acts(run)] == ["1", "2"]


def test_a_run_that_lacks_a_permission_tries_once_more_when_resumed(workers: Any, acme: Tenant, mona: Member) -> None:
    run = runs.start(acme, [call("pay", how="permission:2")])
    runs.until(acme, run, "needs_attention")
    runs.do(acme, commands.resume, run, by=mona)
    runs.so(lambda: len(ledger.acts(run)) == 2)
    runs.until(acme, run, "needs_attention")
    runs.do(acme, commands.resume, run, by=mona)
    runs.until(acme, run, "succeeded")
    assert len({line["key"] for line in ledger.acts(run)}) == 1


@pytest.mark.parametrize(("outcome", "acts", "status"), [("completed", 1, "completed"), ("not_done", 1, "not_done")])
def test_an_unknown_outcome_is_settled_by_a_person(
    workers: Any, acme: Tenant, mona: Member, outcome: str, acts: int, status: str
) -> None:
    run = runs.start(acme, [call("send", how="unknown:1")])
    runs.until(acme, run, "needs_attention")
    step = runs.calls(acme, run)[0].seq
    runs.do(acme, commands.settle, run, step, outcome=outcome, note="I called them", by=mona)
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == acts
    assert runs.calls(acme, run)[0].status == status
    assert "I called them" in ledger.asked(run)[-1]["told"][-1]


def test_an_unknown_outcome_may_be_done_again_under_a_new_key(workers: Any, acme: Tenant, mona: Member) -> None:
    run = runs.start(acme, [call("send", how="unknown:1")])
    runs.until(acme, run, "needs_attention")
    step = runs.calls(acme, run)[0].seq
    runs.do(acme, commands.settle, run, step, outcome="do_again", note="It did not arrive", by=mona)
    runs.until(acme, run, "succeeded")
    assert len({line["key"] for line in ledger.acts(run)}) == len(ledger.acts(run)) == 2


def test_an_approved_call_is_done_again_under_its_standing_approval(
    workers: Any, acme: Tenant, mona: Member, alice: Member
) -> None:
    run = runs.start(acme, [call("post", how="unknown:1")])
    runs.until(acme, run, "waiting_approval")
    runs.decide(alice, runs.requests(acme, run)[0])
    runs.until(acme, run, "needs_attention")
    step = runs.calls(acme, run)[0].seq
    runs.do(acme, commands.settle, run, step, outcome="do_again", note="It did not arrive", by=mona)
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 2
    assert len(runs.requests(acme, run, "approved")) == 1


def test_a_failed_run_is_retried_at_the_turn_that_failed_it(workers: Any, acme: Tenant, mona: Member) -> None:
    run = runs.start(acme, [call("pay")], {"fail": "refused", "times": 1, "then": [call("look")]})
    runs.until(acme, run, "failed")
    runs.do(acme, commands.retry, run, by=mona)
    runs.until(acme, run, "succeeded")
    assert [line["tool"] for line in ledger.acts(run)] == ["pay", "look"]
    assert mona.pk in runs.read(acme, run).initiators


@pytest.mark.parametrize("turn", ["", [call("nothing")], [{"tool": "pay", "args": "{"}]])
def test_a_run_that_led_nowhere_gets_as_many_tries_again_when_it_is_retried(
    workers: Any, acme: Tenant, mona: Member, turn: Any
) -> None:
    run = runs.start(acme, *([turn] * 5), [call("look")])
    assert runs.until(acme, run, "failed").reason == "repeats"
    runs.do(acme, commands.retry, run, by=mona)
    runs.until(acme, run, "succeeded")
    assert len(ledger.asked(run)) == 7


def test_a_run_at_its_limit_of_steps_gets_as_many_again_when_it_is_retried(
    workers: Any, acme: Tenant, mona: Member
) -> None:
    run = runs.start(acme, *([[call("look")]] * 50), agent="short")
    runs.until(acme, run, "failed")
    for limit in (12, 18):
        runs.do(acme, commands.retry, run, by=mona)
        assert runs.until(acme, run, "failed").reason == "max_steps"
        assert len(runs.steps(acme, run).steps) == limit


@pytest.mark.parametrize(
    ("agent", "more", "turns"),
    [("thrifty", {"tokens": 1000}, 3), ("frugal", {"cost": "1.00"}, 3), ("hurried", {"seconds": 60}, 2)],
)
def test_a_budget_used_up_goes_on_with_a_larger_one(
    workers: Any, acme: Tenant, mona: Member, agent: str, more: dict[str, Any], turns: int
) -> None:
    slow = call("look", how="sleep:0.4")
    run = runs.start(acme, *([[slow]] * 4), agent=agent, price="0.25")
    assert runs.until(acme, run, "needs_attention").reason == "budget"
    assert len(ledger.asked(run)) == turns
    runs.do(acme, commands.resume, run, budget=more, by=mona)
    runs.until(acme, run, "succeeded")
    assert len(ledger.asked(run)) == 5


def test_a_model_is_told_that_nobody_answered_and_never_that_it_still_waits(
    workers: Any, acme: Tenant, alice: Member
) -> None:
    with scope(acme.pk):
        wanted = {"outcome": "require_approval", "of": [{"member": alice.email}], "response_timeout": 1}
        rules.create_rule(actor=COMMAND, name="Soon", tools=["refund"], **wanted)
    run = runs.start(acme, [call("refund")])
    runs.until(acme, run, "succeeded")
    assert ledger.acts(run) == []
    _first, last = ledger.asked(run)
    answer = last["told"][-1]
    assert "Nobody answered in time. The call expired and was not run." in answer
    assert "pending" not in answer
    assert "once approved" not in answer
