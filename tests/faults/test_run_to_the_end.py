"""The way of a step, with real workers."""

from typing import Any

from tenants.models import Member, Tenant
from tests.agents import ledger
from tests.cast import runs
from tests.cast.requests import rule
from tests.cast.runs import call


def test_a_run_without_risk_goes_to_its_end(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("look")], [call("pay", amount=3), call("set_it")], "all is done")
    found = runs.until(acme, run, "succeeded")
    assert [line["tool"] for line in ledger.acts(run)] == ["look", "pay", "set_it"]
    assert len(ledger.asked(run)) == 3
    assert found.finished_at
    assert runs.story(acme, run)[-1] == "run.succeeded"


def test_a_risky_call_parks_is_approved_and_runs_once(workers: Any, acme: Tenant, alice: Member) -> None:
    run = runs.start(acme, [call("refund", amount=5)])
    runs.until(acme, run, "waiting_approval")
    assert ledger.acts(run) == []
    (request,) = runs.requests(acme, run)
    runs.decide(alice, request)
    runs.until(acme, run, "succeeded")
    assert [line["args"] for line in ledger.acts(run)] == [{"amount": "5"}]
    assert len(ledger.asked(run)) == 2


def test_a_rejection_reaches_the_model_with_its_reason(workers: Any, acme: Tenant, alice: Member) -> None:
    run = runs.start(acme, [call("refund", amount=5)], "I stop")
    runs.until(acme, run, "waiting_approval")
    (request,) = runs.requests(acme, run)
    reason = "No. " + "because " * 250
    runs.decide(alice, request, "reject", comment=reason)
    runs.until(acme, run, "succeeded")
    assert ledger.acts(run) == []
    told = ledger.asked(run)[-1]["told"]
    assert sum(reason in text for text in told) == 1


def test_what_expired_is_told_to_the_model_as_that_and_never_runs(workers: Any, acme: Tenant, alice: Member) -> None:
    rule(acme, alice, tools=["refund"], approvals=1, response_timeout=1)
    run = runs.start(acme, [call("refund", amount=5)], "I stop")
    runs.until(acme, run, "succeeded")
    assert [each.status for each in runs.requests(acme, run, "expired")] == ["expired"]
    assert ledger.acts(run) == []
    (told,) = [text for text in ledger.asked(run)[-1]["told"] if "in time" in text]
    assert "expired and was not run" in told
    assert "pending" not in told


def test_of_two_calls_that_wait_one_may_run_while_the_other_still_waits(
    workers: Any, acme: Tenant, alice: Member
) -> None:
    run = runs.start(acme, [call("refund", amount=5), call("refund", amount=7)], "all is done")
    runs.until(acme, run, "waiting_approval")
    first, second = sorted(runs.requests(acme, run), key=lambda each: int(each.ref))
    assert (first.pk, first.ref) != (second.pk, second.ref)
    runs.decide(alice, first)
    runs.so(lambda: len(ledger.acts(run)) == 1)
    runs.until(acme, run, "waiting_approval")
    assert [each.pk for each in runs.requests(acme, run)] == [second.pk]
    assert len(ledger.asked(run)) == 1
    runs.decide(alice, second, "reject", comment="Once is enough.")
    runs.until(acme, run, "succeeded")
    assert [line["args"] for line in ledger.acts(run)] == [{"amount": "5"}]
    assert len(ledger.asked(run)) == 2
