"""The way of a step, with real workers."""

from typing import Any

from tenants.models import Member, Tenant
from tests.agents import ledger
from tests.cast import runs
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
