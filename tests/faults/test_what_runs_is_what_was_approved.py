"""The checks before the act: whatever moved since the yes is asked again or refused, and never just run."""

from collections.abc import Callable
from typing import Any

import pytest

from approvals import rules
from approvals.models import RequestVersion
from tenants import members, stamps
from tenants.actors import COMMAND
from tenants.models import AuditContent, AuditEntry, Member, Person, Tenant, ToolSetting
from tenants.scope import scope
from tests.agents import ledger
from tests.cast import runs
from tests.cast.people import make_member
from tests.cast.runs import call

pytestmark = pytest.mark.faults


def parked(acme: Tenant, *turns: Any) -> Any:
    run = runs.start(acme, *turns)
    runs.until(acme, run, "waiting_approval")
    return run


def approved_while_no_worker_acts(
    workers: Any, acme: Tenant, alice: Member, run: Any, change: Callable[[], None]
) -> None:
    """Approve, and let something move before any worker can act on it; none stands still with the run's lock."""
    assert workers.freeze(), "the workers did not come to rest"
    try:
        runs.decide(alice, runs.requests(acme, run)[0])
        change()
    finally:
        workers.thaw()


def test_a_rule_that_became_stricter_asks_again_and_keeps_the_vote(
    workers: Any, acme: Tenant, alice: Member, bo: Member
) -> None:
    run = parked(acme, [call("refund")])

    def tighten() -> None:
        with scope(acme.pk):
            rules.create_rule(actor=COMMAND, name="Two", tools=["refund"], outcome="require_approval", approvals=2)

    approved_while_no_worker_acts(workers, acme, alice, run, tighten)
    runs.so(lambda: runs.requests(acme, run, "superseded"))
    (again,) = runs.requests(acme, run)
    assert ledger.acts(run) == []
    runs.decide(bo, again)
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1


def test_a_rule_that_forbids_by_now_refuses_what_was_approved(workers: Any, acme: Tenant, alice: Member) -> None:
    run = parked(acme, [call("refund")])

    def forbid() -> None:
        with scope(acme.pk):
            rules.create_rule(actor=COMMAND, name="Never", tools=["refund"], outcome="deny")

    approved_while_no_worker_acts(workers, acme, alice, run, forbid)
    runs.until(acme, run, "succeeded")
    assert ledger.acts(run) == []
    assert "Never" in ledger.asked(run)[-1]["told"][-1]


def test_a_tool_that_was_switched_off_does_not_run(workers: Any, acme: Tenant, alice: Member) -> None:
    run = parked(acme, [call("refund")])

    def off() -> None:
        with scope(acme.pk):
            ToolSetting.objects.create(tenant_id=acme.pk, tool="refund", enabled=False)
            stamps.bump()

    approved_while_no_worker_acts(workers, acme, alice, run, off)
    runs.until(acme, run, "succeeded")
    assert ledger.acts(run) == []
    assert "switched off" in ledger.asked(run)[-1]["told"][-1]


def test_a_vote_lapses_with_the_right_to_give_it(
    workers: Any, acme: Tenant, alice: Member, bo: Member, ravi: Member
) -> None:
    run = parked(acme, [call("refund")])

    def leave() -> None:
        with scope(acme.pk):
            members.change(alice.pk, actor=COMMAND, roles=[])

    approved_while_no_worker_acts(workers, acme, alice, run, leave)
    runs.so(lambda: runs.requests(acme, run, "superseded"))
    (again,) = runs.requests(acme, run)
    runs.decide(bo, again)
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1


def test_a_vote_lapses_with_the_account_that_gave_it(workers: Any, acme: Tenant, alice: Member, bo: Member) -> None:
    before = parked(acme, [call("refund")])
    runs.decide(alice, runs.requests(acme, before)[0])
    runs.until(acme, before, "succeeded")  # The workers know the people from then on.
    run = parked(acme, [call("refund")])

    def switch_off() -> None:
        Person.objects.filter(pk=alice.person_id).update(is_active=False)

    approved_while_no_worker_acts(workers, acme, alice, run, switch_off)
    runs.so(lambda: runs.requests(acme, run, "superseded"))
    (again,) = runs.requests(acme, run)
    assert ledger.acts(run) == []
    runs.decide(bo, again)
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1


def test_a_precondition_that_moved_asks_again_with_the_difference(workers: Any, acme: Tenant, alice: Member) -> None:
    amount = 77001
    run = parked(acme, [call("withdraw", amount=amount)])
    (request,) = runs.requests(acme, run)
    assert request.precondition == "0"
    assert request.evidence == f'{{"seen":{amount}}}'

    def move() -> None:
        ledger.enter(run="balance", kind="balance", of=amount)

    approved_while_no_worker_acts(workers, acme, alice, run, move)
    runs.so(lambda: runs.requests(acme, run, "superseded"))
    (again,) = runs.requests(acme, run)
    assert again.precondition == "1"
    assert again.evidence == f'{{"seen":{amount}}}'
    assert again.difference["fields"] == [{"name": "precondition", "before": 0, "after": 1}]
    assert ledger.acts(run) == []
    runs.decide(alice, again)
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1


def test_a_world_that_does_not_stand_still_is_given_up_after_three_rounds(
    workers: Any, acme: Tenant, alice: Member
) -> None:
    amount = 77002
    run = parked(acme, [call("withdraw", amount=amount)])
    for round_ in range(4):
        runs.so(lambda: runs.requests(acme, run))
        approved_while_no_worker_acts(
            workers, acme, alice, run, lambda: ledger.enter(run="balance", kind="balance", of=amount)
        )
        if round_ < 3:
            runs.so(lambda count=round_ + 1: len(runs.requests(acme, run, "superseded")) == count)
    runs.until(acme, run, "succeeded")
    assert ledger.acts(run) == []
    assert [step.reason for step in runs.calls(acme, run)] == ["refused"]


def test_the_same_call_in_another_run_is_asked_on_its_own(workers: Any, acme: Tenant, alice: Member) -> None:
    first = parked(acme, [call("refund", amount=9)])
    runs.decide(alice, runs.requests(acme, first)[0])
    runs.until(acme, first, "succeeded")
    second = parked(acme, [call("refund", amount=9)])
    assert ledger.acts(second) == []


def test_a_tool_that_became_another_one_is_asked_again(
    own_workers: Callable[..., Any], acme: Tenant, alice: Member
) -> None:
    workers = own_workers(n=1)
    run = parked(acme, [call("refund")])
    workers.kill_all()
    runs.decide(alice, runs.requests(acme, run)[0])
    workers.env["TOOL_GENERATION"] = "2"
    workers.restart_all()
    runs.so(lambda: runs.requests(acme, run, "superseded"), within=30)
    (again,) = runs.requests(acme, run)
    assert ledger.acts(run) == []
    runs.decide(alice, again)
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1


def test_one_by_one_asks_about_the_second_call_after_the_first(workers: Any, acme: Tenant, alice: Member) -> None:
    make_member(acme, "Second", "reviewer")
    run = runs.start(acme, [call("refund", amount=1), call("refund", amount=2)], agent="one-by-one")
    runs.until(acme, run, "waiting_approval")
    (first,) = runs.requests(acme, run)
    runs.decide(alice, first)
    runs.so(lambda: len(ledger.acts(run)) == 1)
    (second,) = runs.so(lambda: runs.requests(acme, run))
    runs.decide(alice, second, "reject", comment="no more")
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == 1


def test_what_was_shown_and_hashed_is_what_ran(workers: Any, acme: Tenant, alice: Member) -> None:
    """Case 6: what the model left out is filled in before anybody is asked, and nothing changes it afterwards."""
    run = parked(acme, [call("refund")])
    (request,) = runs.requests(acme, run)
    with scope(acme.pk):
        shown = RequestVersion.objects.get(request=request)
    assert shown.arguments == '{"amount":1,"how":"ok"}'
    runs.decide(alice, request)
    runs.until(acme, run, "succeeded")
    (step,) = runs.calls(acme, run)
    assert [line["args"] for line in ledger.acts(run)] == [{"amount": "1"}]
    assert (step.arguments, step.digest) == (shown.arguments, shown.digest)
    with scope(acme.pk):
        decided = AuditEntry.objects.get(target=f"request:{request.pk}", action="approval.decided")
        body = AuditContent.objects.get(seq=decided.seq).body
    assert f'"digest":"{step.digest}"' in str(body).replace(" ", "")
