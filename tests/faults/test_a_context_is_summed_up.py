"""A context that fills its window: summed up as a recorded step, from which every worker goes on in the same way."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from runs.context import SUMMARISE, SUMMARY
from runs.models import Step
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call

pytestmark = pytest.mark.faults


def kinds(tenant: Tenant, run: UUID) -> list[str]:
    with scope(tenant.pk, read_only=True):
        return list(Step.objects.filter(run_id=run).order_by("seq").values_list("kind", flat=True))


def answers(run: UUID) -> list[dict[str, Any]]:
    """What the model was told, at each turn that was not for a summary."""
    return [line for line in ledger.asked(run) if line["told"][-1:] != [SUMMARISE]]


def test_the_model_goes_on_from_its_own_summary(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, *([[call("look")]] * 4), agent="forgetful")
    runs.until(acme, run, "succeeded")
    two = ["model_turn", "tool_call"] * 2
    assert kinds(acme, run) == [*two, "compaction", *two, "compaction", "model_turn"]
    asked = answers(run)
    assert [line["turn"] for line in asked] == [0, 1, 2, 3, 4]
    assert [len(line["told"]) for line in asked] == [0, 2, 1, 3, 1]
    assert asked[2]["told"] == [SUMMARY + "6 messages"]
    assert asked[3]["told"][0] == SUMMARY + "6 messages"
    assert asked[4]["told"] == [SUMMARY + "7 messages"]


def test_what_a_summary_took_is_counted(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, *([[call("look")]] * 2), agent="forgetful")
    runs.until(acme, run, "succeeded")
    assert runs.steps(acme, run).tokens == 3 * 15 + 5


def test_a_provider_that_reports_no_usage_is_counted_by_its_characters(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, *([[call("look")]] * 2), agent="forgetful", usage="untold")
    runs.until(acme, run, "succeeded")
    assert kinds(acme, run) == [*["model_turn", "tool_call"] * 2, "compaction", "model_turn"]
    spent = runs.start(acme, *([[call("look")]] * 50), agent="thrifty", usage="untold")
    assert runs.until(acme, spent, "needs_attention").reason == "budget"
    asked = runs.start(acme, *([[call("look")]] * 2), usage="untold")
    runs.until(acme, asked, "succeeded")
    assert runs.steps(acme, asked).tokens == 0, "of an agent without bounds nothing is estimated"


def test_an_empty_summary_is_asked_for_again(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, *([[call("look")]] * 2), agent="forgetful", summary="empty:2")
    runs.until(acme, run, "succeeded")
    assert len(ledger.asked(run)) == 3 + 3
    assert answers(run)[-1]["told"] == [SUMMARY + "6 messages"]


def test_a_worker_that_dies_while_it_asks_for_the_summary_loses_nothing(
    own_workers: Callable[..., Any], acme: Tenant
) -> None:
    own_workers(n=2)
    run = runs.start(acme, *([[call("pay")]] * 3), agent="forgetful", summary="die:1")
    runs.until(acme, run, "succeeded", within=30)
    assert [line["tool"] for line in ledger.acts(run)] == ["pay"] * 3
    asked = [line["told"] for line in ledger.asked(run) if line["told"][-1:] == [SUMMARISE]]
    assert len(asked) == 2
    assert asked[0] == asked[1]
    assert answers(run)[2]["told"] == [SUMMARY + "6 messages"]


def test_another_worker_reads_the_context_that_the_first_one_read(workers: Any, acme: Tenant, alice: Member) -> None:
    """A run that waits for a person at its third turn reads its fourth request from the journal alone."""
    turns = [[call("pay")], [call("pay", amount=2)]]
    waits = runs.start(acme, *turns, [call("refund")], agent="forgetful")
    goes_on = runs.start(acme, *turns, [call("pay")], agent="forgetful")
    (request,) = runs.so(lambda: runs.requests(acme, waits))
    runs.decide(alice, request)
    runs.until(acme, waits, "succeeded")
    runs.until(acme, goes_on, "succeeded")
    read, kept = answers(waits)[3], answers(goes_on)[3]
    assert read["told"][:2] == kept["told"][:2] == [SUMMARY + "6 messages", ""]
    assert (read["turn"], [one[0] for one in read["calls"]]) == (kept["turn"], [one[0] for one in kept["calls"]])
    assert [one[0] for one in read["calls"]] == ["c2-0"]
