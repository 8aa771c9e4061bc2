"""What a model may answer: nonsense is told to it, repeated a bounded number of times, and never run."""

from collections.abc import Callable
from typing import Any

import pytest

from tenants.models import Member, Tenant
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("name", ["Pay", "pay ", "рay", "", "refund2"])
def test_an_unknown_tool_is_told_to_the_model_and_nobody_is_asked(workers: Any, acme: Tenant, name: str) -> None:
    run = runs.start(acme, [call(name, amount=1)], [call("pay", amount=1)])
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1
    assert "There is no tool named" in ledger.asked(run)[1]["told"][-1]
    assert runs.requests(acme, run) == []


@pytest.mark.parametrize(
    "text",
    ['{"a":1,', "null", "[]", '"x"', '{"amount": "1"}', '{"amount": true}', '{"amount": NaN}', '{"amount": Infinity}']
    + ["[" * 20_000, ""],
)
def test_broken_arguments_are_never_run_and_never_parked(workers: Any, acme: Tenant, text: str) -> None:
    run = runs.start(acme, [{"tool": "refund", "args": text}], "I stop")
    runs.until(acme, run, "succeeded")
    assert ledger.acts(run) == []
    (step,) = runs.calls(acme, run)
    assert (step.status, step.reason) == ("declined", "invalid")
    assert "approval.requested" not in runs.story(acme, run)


@pytest.mark.parametrize("turn", ["", [call("nothing")], [{"tool": "pay", "args": "{"}]])
def test_what_leads_nowhere_is_repeated_a_bounded_number_of_times(workers: Any, acme: Tenant, turn: Any) -> None:
    run = runs.start(acme, *([turn] * 10))
    found = runs.until(acme, run, "failed")
    assert found.reason == "repeats"
    assert len(ledger.asked(run)) == 3
    assert ledger.acts(run) == []


def test_calls_that_share_an_id_are_not_run(workers: Any, acme: Tenant) -> None:
    same = [{"tool": "refund", "args": {"amount": 1}, "id": "x"}, {"tool": "post", "args": {"what": "a"}, "id": "x"}]
    run = runs.start(acme, same, [call("look")])
    runs.until(acme, run, "succeeded")
    assert [line["tool"] for line in ledger.acts(run)] == ["look"]
    seen = [call_id for call_id, _, _ in ledger.asked(run)[-1]["calls"]]
    assert len(set(seen)) == len(seen) == 3


def test_an_id_used_in_an_earlier_turn_is_told_apart(workers: Any, acme: Tenant) -> None:
    turn = [{"tool": "pay", "args": {"amount": 1}, "id": "x"}]
    run = runs.start(acme, turn, [{"tool": "pay", "args": {"amount": 2}, "id": "x"}])
    runs.until(acme, run, "succeeded")
    assert [line["args"]["amount"] for line in ledger.acts(run)] == ["1", "2"]
    seen = [call_id for call_id, _, _ in ledger.asked(run)[-1]["calls"]]
    assert len(set(seen)) == 2


def test_a_mixed_batch_answers_each_call_once(workers: Any, acme: Tenant, alice: Member) -> None:
    run = runs.start(acme, [call("refund", amount=1), call("refund", amount=2), call("refund", amount=3)])
    runs.so(lambda: len(runs.requests(acme, run)) == 3)
    first, second, third = runs.requests(acme, run)
    runs.decide(alice, second, "reject", comment="not this one")
    runs.decide(alice, third, "edit", arguments={"amount": 30, "how": "ok"})
    runs.so(lambda: [line["args"]["amount"] for line in ledger.acts(run)] == ["30"])
    assert len(ledger.asked(run)) == 1, "the model is asked again only when all have a result"
    runs.decide(alice, first)
    runs.until(acme, run, "succeeded")
    assert [line["args"]["amount"] for line in ledger.acts(run)] == ["30", "1"]
    told = ledger.asked(run)[-1]["told"][1:]
    assert len(told) == 3
    assert "not this one" in told[1]
    assert "amount" in told[2]
    assert "30" in told[2]


def test_the_same_rejected_call_is_put_to_people_three_times_at_most(workers: Any, acme: Tenant, alice: Member) -> None:
    run = runs.start(acme, *([[call("refund", amount=1)]] * 10))
    for _ in range(3):
        (request,) = runs.so(lambda: runs.requests(acme, run))
        runs.decide(alice, request, "reject", comment="no")
    found = runs.until(acme, run, "failed")
    assert found.reason == "repeats"
    assert len(runs.requests(acme, run, "rejected")) == 3
    assert ledger.acts(run) == []


def test_a_model_that_fails_is_asked_the_same_again(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("pay")], {"fail": "transient", "times": 2, "then": "done"})
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1
    asked = ledger.asked(run)
    assert [line["turn"] for line in asked] == [0, 1, 1, 1]
    assert asked[1] == asked[2] == asked[3]


@pytest.mark.parametrize("how", ["refused", "invalid", "permission"])
def test_what_a_model_will_never_answer_is_asked_once(workers: Any, acme: Tenant, how: str) -> None:
    run = runs.start(acme, {"fail": how, "times": 99, "then": "done"})
    found = runs.until(acme, run, "failed")
    assert found.reason == "model"
    assert len(ledger.asked(run)) == 1


def test_a_told_wait_is_kept(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, {"fail": "limited", "times": 1, "then": "done"})
    runs.until(acme, run, "succeeded")
    (turn,) = runs.steps(acme, run).steps
    first, second = runs.attempts(acme, run, turn.seq)
    assert (second.opened_at - first.closed_at).total_seconds() >= 0.3


def test_many_that_are_limited_at_once_come_back_spread_out(own_workers: Callable[..., Any], acme: Tenant) -> None:
    """Case 81: twenty runs at one moment, at a model that takes five requests a second."""
    ids = [runs.start(acme, {"fail": "door", "then": "done"}) for _ in range(20)]
    own_workers(n=1, threads=10, RETRY_BASE="1")
    for run in ids:
        runs.until(acme, run, "succeeded", within=90)
    tries = [[line["at"] for line in ledger.entries(run, "door")] for run in ids]
    assert sum(len(each) for each in tries) > 20
    again = sorted(at for each in tries for at in each[1:])
    assert max(sum(at <= other < at + 0.1 for other in again) for at in again) < 10


def test_the_limit_of_steps_ends_a_run(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, *([[call("look")]] * 200), agent="short")
    assert runs.until(acme, run, "failed").reason == "max_steps"
    assert len(runs.steps(acme, run).steps) == 6


def test_a_budget_that_is_used_up_waits_for_a_person(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, *([[call("look")]] * 50), agent="thrifty")
    found = runs.until(acme, run, "needs_attention")
    assert found.reason == "budget"
    assert len(ledger.asked(run)) == 3


def test_after_a_long_wait_the_world_is_observed_again(workers: Any, acme: Tenant, alice: Member) -> None:
    run = runs.start(acme, [call("refund")], agent="observer")
    runs.until(acme, run, "waiting_approval")
    runs.so(lambda: runs.older_than(acme, run, 0.3))
    runs.decide(alice, runs.requests(acme, run)[0])
    runs.until(acme, run, "succeeded")
    assert [step.kind for step in runs.steps(acme, run).steps] == [
        "model_turn",
        "tool_call",
        "observation",
        "model_turn",
    ]
    assert "as it is" in ledger.asked(run)[-1]["told"][-1]


@pytest.mark.parametrize("how", ["quit", "mute", "soon"])
def test_a_model_that_fails_in_a_strange_way_is_asked_again(workers: Any, acme: Tenant, how: str) -> None:
    run = runs.start(acme, {"fail": how, "times": 1, "then": "done"})
    runs.until(acme, run, "succeeded")
    assert len(ledger.asked(run)) == 2
    assert "run.recovered" not in runs.story(acme, run)


def test_a_usage_that_cannot_be_added_up_counts_as_none(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, "strange usage")
    runs.until(acme, run, "succeeded")
    assert len(ledger.asked(run)) == 1


def test_an_id_of_ours_differs_from_one_the_model_made_up_alike(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [{"tool": "pay", "args": {"amount": 1}, "id": "call_3"}, {"tool": "look", "id": ""}])
    runs.until(acme, run, "succeeded")
    seen = [call_id for call_id, _, _ in ledger.asked(run)[-1]["calls"]]
    assert len(set(seen)) == 2
