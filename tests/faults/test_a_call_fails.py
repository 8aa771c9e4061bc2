"""Calls that fail: tried again where that is safe, told to the model or to a person where it is not."""

from typing import Any

import pytest

from tenants.models import Tenant
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call

pytestmark = pytest.mark.faults


def test_a_transient_error_is_tried_again_under_one_key(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("pay", amount=1), call("pay", amount=2), call("pay", amount=3, how="transient:2")])
    runs.until(acme, run, "succeeded")
    by_amount = [line["args"]["amount"] for line in ledger.acts(run)]
    assert sorted(by_amount) == ["1", "2", "3", "3", "3"], "finished siblings are not run again"
    assert len({line["key"] for line in ledger.acts(run)}) == 3
    third = runs.calls(acme, run)[2]
    tried = runs.attempts(acme, run, third.seq)
    assert [(each.number, each.cause) for each in tried] == [(1, "server"), (2, "server"), (3, "")]
    assert "run.sleeping" in runs.story(acme, run)


@pytest.mark.parametrize("how", ["timeout:1", "unknown:1", "bug:1", "quit:1", "mute:1"])
def test_what_may_have_happened_is_repeated_only_where_that_is_safe(workers: Any, acme: Tenant, how: str) -> None:
    keyed, found, manual = (runs.start(acme, [call(tool, how=how)]) for tool in ("pay", "deliver", "send"))
    runs.until(acme, keyed, "succeeded")
    assert len(ledger.acts(keyed)) == 2
    assert len({line["key"] for line in ledger.acts(keyed)}) == 1
    runs.until(acme, found, "succeeded")
    assert len(ledger.acts(found)) == 1
    assert runs.until(acme, manual, "needs_attention").reason == "unknown_outcome"
    assert len(ledger.acts(manual)) == 1


def test_refused_arguments_go_back_to_the_model_without_a_retry(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("send", how="invalid:9")], "I see")
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1
    assert "no such order" in ledger.asked(run)[-1]["told"][-1]
    assert runs.calls(acme, run)[0].status == "failed"


def test_a_missing_permission_waits_for_a_person(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("pay", how="permission:1"), call("look")])
    found = runs.until(acme, run, "needs_attention")
    assert found.reason == "permission"
    assert [line["tool"] for line in ledger.acts(run)] == ["pay", "look"], "its sibling was not held up"


def test_tries_are_bounded_and_what_may_have_happened_is_never_called_failed(workers: Any, acme: Tenant) -> None:
    read, keyed = (runs.start(acme, [call(tool, how="timeout:99")]) for tool in ("look", "pay"))
    runs.until(acme, read, "succeeded", within=40)
    assert len(ledger.acts(read)) == 8
    assert runs.until(acme, keyed, "needs_attention", within=40).reason == "unknown_outcome"
    assert len(ledger.acts(keyed)) == 8


def test_a_call_past_its_time_is_given_up_and_its_thread_writes_nothing(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("send", how="sleep:4")])
    assert runs.until(acme, run, "needs_attention").reason == "unknown_outcome"
    (step,) = runs.calls(acme, run)
    (attempt,) = runs.attempts(acme, run, step.seq)
    assert attempt.cause == "timeout"
    assert len(ledger.acts(run)) == 1


@pytest.mark.parametrize("how", ["open", "put off", "swap"])
def test_a_call_that_leaves_the_database_in_disorder_takes_nothing_of_the_run_into_it(
    workers: Any, acme: Tenant, how: str
) -> None:
    run = runs.start(acme, [call("pay", how=how)], [call("pay", amount=2), call("refund", amount=3, how=how)])
    runs.until(acme, run, "waiting_approval")
    assert len(ledger.acts(run)) == 2
    assert runs.story(acme, run).count("run.started") == 1


def test_a_call_longer_than_the_lease_stays_with_its_worker(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("pay", how="sleep:3.5")])
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1
    assert runs.story(acme, run).count("run.started") == 1


def test_progress_is_told_at_most_once_a_second_and_the_last_is_kept(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("look", how="progress:150")])
    runs.until(acme, run, "succeeded")
    told = [event for event in runs.events_of(acme, run) if event.name == "step.progress"]
    assert 2 <= len(told) <= 4
    assert told[-1].data["done"] == told[-1].data["total"] == 150


def test_a_told_wait_that_is_no_number_counts_as_none(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("pay", how="soon:1")])
    runs.until(acme, run, "succeeded")
    assert [line["attempt"] for line in ledger.acts(run)] == [1, 2]
    assert runs.story(acme, run).count("run.recovered") == 0


def test_progress_that_cannot_be_stored_as_it_came_costs_the_call_nothing(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("send", how="mumble")])
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1
    (told,) = [event for event in runs.events_of(acme, run) if event.name == "step.progress"]
    assert told.message.startswith("a␀b")
    assert len(told.message) <= 1000


def test_a_precondition_that_json_cannot_say_protects_by_refusing(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("withdraw", how="nan")], "I stop")
    runs.until(acme, run, "succeeded", within=40)
    assert ledger.acts(run) == []
    (step,) = runs.calls(acme, run)
    assert (step.status, step.reason) == ("declined", "refused")
    assert runs.requests(acme, run) == []
