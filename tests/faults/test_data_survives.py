"""Numbers, large texts and strange characters: kept exactly, or refused aloud."""

from typing import Any

import pytest

from runs import payloads
from tenants.models import Member, Tenant
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call

pytestmark = pytest.mark.faults


def test_a_large_result_goes_to_storage_and_the_model_reads_all_of_it(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, [call("fetch", size=250_000)], [call("look")])
    runs.until(acme, run, "succeeded")
    step = runs.calls(acme, run)[0]
    kept = payloads.read(step.payloads["result"], tenant=acme.pk).decode()
    assert kept == '"' + "🙂" * 250_000 + '"'
    assert step.result == kept[: len(step.result)]
    assert ledger.asked(run)[1]["told"][-1] == ledger.asked(run)[2]["told"][1] == "🙂" * 250_000


@pytest.mark.parametrize("strange", ["nan", "nul", "half"])
def test_a_result_that_cannot_be_kept_is_told_as_such(workers: Any, acme: Tenant, strange: str) -> None:
    run = runs.start(acme, [call("fetch", strange=strange)])
    runs.until(acme, run, "succeeded")
    assert "its result cannot be kept" in ledger.asked(run)[1]["told"][-1]
    assert len(ledger.acts(run)) == 1


@pytest.mark.parametrize("text", ["a\\u0000b", "\\ud800"])
def test_arguments_that_cannot_be_kept_are_refused(workers: Any, acme: Tenant, text: str) -> None:
    run = runs.start(acme, [{"tool": "post", "args": f'{{"what": "{text}"}}'}], "I stop")
    runs.until(acme, run, "succeeded")
    assert ledger.acts(run) == []


def test_a_large_number_is_the_same_everywhere(workers: Any, acme: Tenant, alice: Member) -> None:
    number = 9007199254740993
    run = runs.start(acme, [call("refund", amount=number)])
    runs.until(acme, run, "waiting_approval")
    (request,) = runs.requests(acme, run)
    runs.decide(alice, request)
    runs.until(acme, run, "succeeded")
    assert [line["args"]["amount"] for line in ledger.acts(run)] == [str(number)]
    assert str(number) in ledger.asked(run)[-1]["told"][-1]
