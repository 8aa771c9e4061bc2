"""Deadlines and levels: who is asked next, what silence means, and that nothing is done twice."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from approvals import acts, clock, decisions, escalation, escalations, hands, known
from approvals.known import Known
from approvals.models import ApprovalRequest, Asked, Delegation, EscalationPolicy
from approvals.signals import request_resolved
from tenants import events, stamps
from tenants.locks import hold
from tenants.models import Group, Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import current, scope
from tests.cast.people import actor, make_member
from tests.cast.requests import a_call, fresh, group, park, rule

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def levels(tenant: Tenant, *written: tuple[float, list[Group]], repeats: int = 0) -> str:
    with scope(tenant.pk):
        row = EscalationPolicy.objects.create(
            tenant_id=current(),
            name="Chain",
            repeats=repeats,
            levels=[
                {"after": after, "groups": [str(g.pk) for g in groups], "members": []} for after, groups in written
            ],
        )
    return str(row.pk)


def hours_pass(request: ApprovalRequest, hours: float) -> None:
    """Move the request into the past: the owner may, the application may not."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE approvals_approvalrequest DISABLE TRIGGER request_states_frozen")
        gap = f"{hours} hours"
        cursor.execute(
            "UPDATE approvals_approvalrequest SET opened_at = opened_at - %s::interval,"
            " deadline = deadline - %s::interval, due_at = due_at - %s::interval,"
            " next_at = next_at - %s::interval WHERE id = %s",
            [gap, gap, gap, gap, request.pk],
        )
        cursor.execute("ALTER TABLE approvals_approvalrequest ENABLE TRIGGER request_states_frozen")


def story(request: ApprovalRequest) -> list[tuple[str, dict[str, Any]]]:
    with scope(request.tenant_id):
        return [(row.name, row.data) for row in events.after(request.subject, 0, 200)]


def told(request: ApprovalRequest, name: str) -> list[dict[str, Any]]:
    return [data for each, data in story(request) if each == name]


def decide(request: ApprovalRequest, member: Member, decision: str = "approve", **sent: Any) -> Any:
    return decisions.decide(
        request.pk,
        tenant=request.tenant_id,
        actor=actor(member),
        decision=decision,
        version=sent.pop("version", 1),
        channel="api",
        **sent,
    )


def asked(request: ApprovalRequest) -> set[str]:
    with scope(request.tenant_id):
        rows = Asked.objects.filter(request=request, until__isnull=True).select_related("member__person")
        return {row.member.name for row in rows}


def test_silence_expires_and_is_no_persons_refusal(parked: ApprovalRequest) -> None:
    hours_pass(parked, 25)
    assert escalation.sweep() == 1
    row = fresh(parked)
    assert (row.status, row.decision, row.decided_by["kind"]) == ("expired", "", "system")
    assert [name for name, _ in story(parked)] == ["approval.requested", "approval.expired"]
    assert escalation.sweep() == 0


def test_an_answer_after_the_deadline_finds_it_expired_unswept(parked: ApprovalRequest, alice: Member) -> None:
    hours_pass(parked, 25)
    with pytest.raises(Refusal) as caught:
        decide(parked, alice)
    assert (caught.value.status, caught.value.code) == (409, "expired")
    assert fresh(parked).status == "expired"
    assert escalation.sweep() == 0


def test_a_hundred_sweeps_are_one_expiry(parked: ApprovalRequest) -> None:
    hours_pass(parked, 25)
    for _number in range(20):
        escalation.sweep()
        escalation.handle(parked.tenant_id, parked.pk)
    assert len(told(parked, "approval.expired")) == 1


def test_silence_may_fail_the_run(acme: Tenant, alice: Member) -> None:
    rule(acme, alice, on_timeout="fail_run")
    request = park(acme)
    hours_pass(request, 25)
    heard: list[dict[str, Any]] = []

    def hear(**said: Any) -> None:
        heard.append(said)

    request_resolved.connect(hear)
    try:
        escalation.sweep()
    finally:
        request_resolved.disconnect(hear)
    assert (heard[0]["status"], heard[0]["fail_run"]) == ("expired", True)
    assert "expired" in heard[0]["text"]
    assert "pending" not in heard[0]["text"]


@pytest.mark.parametrize(("risk", "status"), [("low", "approved"), ("high", "expired")])
def test_silence_approves_low_risk_only(acme: Tenant, alice: Member, risk: str, status: str) -> None:
    rule(acme, alice, on_timeout="approve")
    request = park(acme, a_call(risk=risk))
    hours_pass(request, 25)
    escalation.sweep()
    assert fresh(request).status == status
    assert (fresh(request).decided_by or {})["kind"] == "system"


def test_a_level_adds_people_and_removes_nobody(acme: Tenant, alice: Member, bo: Member) -> None:
    leads = group(acme, "Leads", bo)
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (3600, [leads])))
    request = park(acme)
    assert asked(request) == {"Alice"}
    with pytest.raises(Refusal) as caught:
        decide(request, bo)
    assert caught.value.code == "not_yours_not_yet"
    hours_pass(request, 1)
    escalation.sweep()
    assert asked(request) == {"Alice", "Bo"}
    assert told(request, "approval.escalated") == [
        {"request": str(request.pk), "step": 1, "level": 1, "because": "time"}
    ]
    assert decide(request, bo).request.status == "approved"


def test_a_level_with_nobody_is_passed_at_once(acme: Tenant, alice: Member, bo: Member) -> None:
    group(acme, "Night")
    leads = group(acme, "Leads", bo)
    rule(acme, alice, of=[{"group": "Night"}], escalation_policy=levels(acme, (3600, [leads])))
    request = park(acme)
    assert asked(request) == {"Bo"}
    assert told(request, "approval.escalated")[0]["because"] == "too_few"
    assert request.escalation_level == 1


def test_where_nobody_is_left_the_story_says_so_and_the_deadline_runs(acme: Tenant, alice: Member) -> None:
    request = park(acme, a_call(risk="critical", initiators=(alice.pk,)))
    assert request.short == 2
    assert told(request, "approval.escalated")[0]["because"] == "nobody_left"
    assert request.next_at == request.deadline


def test_repeats_are_bounded(acme: Tenant, alice: Member, bo: Member) -> None:
    leads = group(acme, "Leads", bo)
    rule(acme, alice, escalation_policy=levels(acme, (60, [leads]), (120, [leads]), repeats=2), response_timeout=86400)
    request = park(acme)
    for _number in range(10):
        hours_pass(request, 0.5)
        escalation.sweep()
    assert [each["because"] for each in told(request, "approval.escalated")] == ["time", "time", *["repeat"] * 4]
    assert fresh(request).next_at == fresh(request).deadline


def test_a_decided_request_is_left_alone(acme: Tenant, alice: Member, bo: Member) -> None:
    leads = group(acme, "Leads", bo)
    rule(acme, alice, escalation_policy=levels(acme, (60, [leads])))
    request = park(acme)
    decide(request, alice)
    hours_pass(request, 30)
    assert escalation.sweep() == 0
    assert told(request, "approval.escalated") == []


def test_a_manager_asks_the_next_level_at_once(acme: Tenant, alice: Member, bo: Member, mona: Member) -> None:
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (3600, [group(acme, "Leads", bo)])))
    request = park(acme)
    with pytest.raises(Refusal) as caught:
        acts.escalate(request.pk, tenant=acme.pk, actor=actor(alice), channel="api")
    assert caught.value.status == 403
    acts.escalate(request.pk, tenant=acme.pk, actor=actor(mona), channel="api")
    assert asked(request) == {"Alice", "Bo"}
    with pytest.raises(Refusal) as caught:
        acts.escalate(request.pk, tenant=acme.pk, actor=actor(mona), channel="api")
    assert (caught.value.status, caught.value.code) == (409, "no_next_level")


def test_who_was_reassigned_may_no_longer_answer(acme: Tenant, alice: Member, bo: Member, mona: Member) -> None:
    rule(acme, alice, of=[{"member": alice.email}])
    request = park(acme)
    acts.reassign(request.pk, tenant=acme.pk, actor=actor(mona), to=bo.email, channel="api")
    assert asked(request) == {"Bo"}
    with pytest.raises(Refusal) as caught:
        decide(request, alice)
    assert caught.value.status == 403
    assert decide(request, bo).request.status == "approved"
    assert told(request, "approval.reassigned")[0]["to"] == str(bo.pk)


@pytest.mark.parametrize("bad", ["initiator", "manager", "same", "unknown"])
def test_only_one_who_could_answer_takes_the_place(
    acme: Tenant, alice: Member, bo: Member, mona: Member, bad: str
) -> None:
    rule(acme, alice, of=[{"member": alice.email}])
    request = park(acme, a_call(initiators=(bo.pk,)))
    to = {"initiator": bo.email, "manager": mona.email, "same": alice.email, "unknown": "x@y.example"}[bad]
    with pytest.raises(Refusal) as caught:
        acts.reassign(request.pk, tenant=acme.pk, actor=actor(mona), to=to, channel="api")
    assert caught.value.status == 422
    assert asked(request) == {"Alice"}


def stand_in(tenant: Tenant, absent: Member, by: Member, *, hours: float = 1) -> Delegation:
    with scope(tenant.pk):
        now = clock.now()
        return Delegation.objects.create(
            tenant_id=current(),
            member=absent,
            stand_in=by,
            starts=now - timedelta(minutes=1),
            ends=now + timedelta(hours=hours),
        )


def progress(request: ApprovalRequest) -> tuple[int, int]:
    hold(request.subject)
    return hands.of(fresh(request)).progress


def ask_again(tenant: Tenant) -> None:
    with scope(tenant.pk):
        stamps.bump()
    escalation.sweep()


def test_a_stand_in_answers_in_the_place_of_the_absent(acme: Tenant, alice: Member, bo: Member) -> None:
    group(acme, "Finance", alice)
    rule(acme, alice, of=[{"group": "Finance"}])
    request = park(acme)
    stand_in(acme, alice, bo)
    ask_again(acme)
    assert "Bo" in asked(request)
    done = decide(request, bo)
    assert (done.request.status, done.review.in_place_of_id) == ("approved", alice.pk)


def test_one_place_counts_once_whoever_answers_in_it(acme: Tenant, alice: Member, bo: Member) -> None:
    carol = make_member(acme, "Carol", "reviewer")
    group(acme, "Finance", alice, carol)
    rule(acme, alice, of=[{"group": "Finance"}], approvals=2)
    request = park(acme)
    stand_in(acme, alice, bo)
    decide(request, bo)
    assert decide(request, alice).approvals_given == 1
    assert decide(request, carol).request.status == "approved"


def test_a_stand_in_is_shut_out_where_either_started_the_run(acme: Tenant, alice: Member, bo: Member) -> None:
    group(acme, "Finance", alice)
    rule(acme, alice, of=[{"group": "Finance"}])
    stand_in(acme, alice, bo)
    for initiator in (alice, bo):
        request = park(acme, a_call(initiators=(initiator.pk,)))
        with pytest.raises(Refusal) as caught:
            decide(request, bo)
        assert caught.value.status == 403


def test_a_vote_outlives_the_absence_but_not_the_right(acme: Tenant, alice: Member, bo: Member) -> None:
    carol = make_member(acme, "Carol", "reviewer")
    finance = group(acme, "Finance", alice, carol)
    rule(acme, alice, of=[{"group": "Finance"}], approvals=2)
    request = park(acme)
    absence = stand_in(acme, alice, bo)
    decide(request, bo)
    with scope(acme.pk):
        Delegation.objects.filter(pk=absence.pk).update(withdrawn_at=clock.now())
        assert progress(request)[0] == 1
        finance.memberships.filter(member=alice).delete()
        assert progress(request)[0] == 0


def test_a_change_of_people_moves_what_already_waits(acme: Tenant, alice: Member, bo: Member) -> None:
    finance = group(acme, "Finance", alice)
    rule(acme, alice, of=[{"group": "Finance"}])
    request = park(acme)
    with scope(acme.pk):
        finance.memberships.all().delete()
        finance.memberships.create(tenant_id=current(), member=bo)
    ask_again(acme)
    assert asked(request) == {"Bo"}


def test_people_and_levels_are_read_once_for_many_and_anew_when_they_changed(
    acme: Tenant, alice: Member, bo: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = group(acme, "First", alice), group(acme, "Second", bo)
    rule(acme, alice, of=[{"group": "First"}], escalation_policy=levels(acme, (3600, [second])))
    some = [park(acme) for _ in range(4)]
    for each in some:
        hours_pass(each, 2)
    reads: list[str] = []
    for module, name in ((known, "roster"), (escalations, "_levels")):
        read = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, name=name, read=read: reads.append(name) or read(*args))
    shared = Known()
    for each in some[:3]:
        escalation.handle(acme.pk, each.pk, shared)
    assert ([asked(each) for each in some[:3]], sorted(reads)) == ([{"Alice", "Bo"}] * 3, ["_levels", "roster"])
    with scope(acme.pk):
        first.memberships.all().delete()
        stamps.bump()
    escalation.handle(acme.pk, some[3].pk, shared)
    assert (asked(some[3]), sorted(reads)) == ({"Bo"}, ["_levels"] * 2 + ["roster"] * 2)
