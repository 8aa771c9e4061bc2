"""Being on call: a level asks whoever's turn it is when it is reached, and the turn takes what waits along."""

from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID

import pytest

from approvals import clock, escalation, escalation_policies, rotations, week_texts, working_hours
from approvals.models import ApprovalRequest, Asked, Delegation, Delivery, RotationOverride
from tenants import members, stamps
from tenants.models import Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast.people import actor, make_member
from tests.cast.requests import WORKER, a_call, fresh, group, park, rule
from tests.db.test_escalation import ask_again, asked, decide, hours_pass, progress, stand_in, told
from tests.races.test_decide_races import at_once

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def rotation(tenant: Tenant, *people: Member, **changes: Any) -> Any:
    """A rotation whose first member is on call now, for a day or so."""
    with scope(tenant.pk):
        day = (clock.now() - timedelta(hours=1)).date().isoformat()
        body = {"name": "Nights", "zone": "UTC", "every": "week", "handover": "00:00", "first_day": day, **changes}
        return rotations.create(actor=WORKER, members=[str(each.pk) for each in people], **body)


def on_call_after(tenant: Tenant, row: Any, *, after: int = 3600, name: str = "Then on call") -> str:
    """A rule's escalation: its group first, then whoever is on call."""
    with scope(tenant.pk):
        levels = [{"after": after, "rotations": [str(row.pk)]}]
        return str(escalation_policies.create(actor=WORKER, name=name, levels=levels).pk)


def asks(tenant: Tenant, first: Member, row: Any, **body: Any) -> ApprovalRequest:
    """A request that asks `first`, and an hour later whoever is on call."""
    team = group(tenant, "Team", first)
    policy = on_call_after(tenant, row)
    rule(tenant, first, of=[{"group": team.name}], escalation_policy=policy, **body)
    return park(tenant)


@pytest.fixture
def chen(acme: Tenant) -> Member:
    """A third reviewer."""
    return make_member(acme, "Chen", "reviewer")


def test_a_level_asks_whoever_is_on_call_when_it_is_reached(
    acme: Tenant, alice: Member, bo: Member, chen: Member
) -> None:
    row = rotation(acme, bo, chen)
    request = asks(acme, alice, row)
    with scope(acme.pk):
        rotations.change(row.pk, actor=WORKER, changes={"members": [str(chen.pk), str(bo.pk)]})
    escalation.sweep()
    assert asked(request) == {"Alice"}
    hours_pass(request, 1.1)
    escalation.sweep()
    assert asked(request) == {"Alice", "Chen"}
    with pytest.raises(Refusal) as caught:
        decide(request, bo)
    assert caught.value.status == 403
    assert decide(request, chen).request.status == "approved"


def test_a_level_with_nobody_on_call_is_passed_at_once(acme: Tenant, alice: Member, bo: Member, ravi: Member) -> None:
    row = rotation(acme, bo)
    with scope(acme.pk):
        members.change(bo.pk, actor=actor(ravi), active=False)
    request = asks(acme, bo, row)
    assert asked(request) == set()
    assert [each["because"] for each in told(request, "approval.escalated")] == ["too_few", "nobody_left"]


def test_a_level_with_nobody_on_call_yet_is_passed_at_once_and_one_who_steps_in_is_asked(
    acme: Tenant, alice: Member, bo: Member, chen: Member
) -> None:
    row = rotation(acme, bo, first_day=(clock.now() + timedelta(days=30)).date().isoformat())
    request = asks(acme, alice, row)
    hours_pass(request, 1.1)
    escalation.sweep()
    assert asked(request) == {"Alice"}
    assert [each["because"] for each in told(request, "approval.escalated")] == ["time"]
    with scope(acme.pk):
        ends = clock.now() + timedelta(hours=3)
        rotations.override(row.pk, actor=WORKER, member=chen, starts=None, ends=ends)
    escalation.sweep()
    assert asked(request) == {"Alice", "Chen"}


def test_who_has_left_is_passed_over(acme: Tenant, alice: Member, bo: Member, chen: Member, ravi: Member) -> None:
    request = asks(acme, alice, rotation(acme, bo, chen))
    hours_pass(request, 1.1)
    escalation.sweep()
    assert asked(request) == {"Alice", "Bo"}
    with scope(acme.pk):
        members.change(bo.pk, actor=actor(ravi), roles=["manager"])
    escalation.sweep()
    assert asked(request) == {"Alice", "Chen"}


def test_a_hand_over_takes_along_what_waits_and_wakes_by_itself(
    acme: Tenant, alice: Member, bo: Member, chen: Member
) -> None:
    row = rotation(acme, bo)
    with scope(acme.pk):
        ends = clock.now() + timedelta(hours=3)
        made = rotations.override(row.pk, actor=WORKER, member=chen, starts=None, ends=ends)
    request = asks(acme, alice, row)
    hours_pass(request, 1.1)
    escalation.sweep()
    assert asked(request) == {"Alice", "Chen"}
    due = fresh(request).due_at
    assert due is not None
    assert due <= ends
    with scope(acme.pk):
        now = clock.now()
        RotationOverride.objects.filter(pk=made.pk).update(starts=now - timedelta(hours=1), ends=now)
        ApprovalRequest.objects.filter(pk=request.pk).update(due_at=now)
    escalation.sweep()
    assert asked(request) == {"Alice", "Bo"}
    with pytest.raises(Refusal):
        decide(request, chen)


def test_a_vote_given_on_call_outlives_the_turn_but_not_the_role(
    acme: Tenant, alice: Member, bo: Member, chen: Member, ravi: Member
) -> None:
    row = rotation(acme, bo)
    with scope(acme.pk):
        ends = clock.now() + timedelta(hours=3)
        made = rotations.override(row.pk, actor=WORKER, member=chen, starts=None, ends=ends)
    request = asks(acme, alice, row, approvals=2)
    hours_pass(request, 1.1)
    escalation.sweep()
    decide(request, chen)
    with scope(acme.pk):
        rotations.withdraw(row.pk, made.pk, actor=WORKER)
        assert progress(request)[0] == 1
        members.change(chen.pk, actor=actor(ravi), roles=["manager"])
        assert progress(request)[0] == 0
        members.change(chen.pk, actor=actor(ravi), roles=["reviewer"])
    escalation.sweep()
    assert asked(request) == {"Alice", "Bo"}
    assert decide(request, alice).request.status == "approved"


@pytest.mark.parametrize("as_stand_in", [False, True])
def test_a_vote_that_stands_leaves_one_other_to_ask(
    acme: Tenant, alice: Member, bo: Member, chen: Member, ravi: Member, as_stand_in: bool
) -> None:
    row = rotation(acme, bo)
    dana = make_member(acme, "Dana", "reviewer")
    with scope(acme.pk):
        ends = clock.now() + timedelta(hours=3)
        made = rotations.override(row.pk, actor=WORKER, member=chen, starts=None, ends=ends)
    absence = stand_in(acme, chen, dana) if as_stand_in else None
    request = asks(acme, alice, row, approvals=2)
    assert fresh(request).short == 0
    decide(request, dana if as_stand_in else chen)
    with scope(acme.pk):
        members.change(bo.pk, actor=actor(ravi), active=False)
        rotations.withdraw(row.pk, made.pk, actor=WORKER)
        if absence:
            Delegation.objects.filter(pk=absence.pk).update(withdrawn_at=clock.now())
            stamps.bump()
    escalation.sweep()
    assert (asked(request), fresh(request).short) == ({"Alice"}, 0)
    assert [each["because"] for each in told(request, "approval.escalated")] == ["too_few"]
    with scope(acme.pk):
        members.change(chen.pk, actor=actor(ravi), roles=["manager"])
    escalation.sweep()
    assert fresh(request).short == 1


def test_an_initiator_on_call_is_shut_out(acme: Tenant, alice: Member, bo: Member) -> None:
    row = rotation(acme, bo)
    team = group(acme, "Team", alice)
    rule(acme, alice, of=[{"group": team.name}], escalation_policy=on_call_after(acme, row))
    request = park(acme, a_call(initiators=(bo.pk,)))
    hours_pass(request, 1.1)
    escalation.sweep()
    assert asked(request) == {"Alice"}
    with pytest.raises(Refusal) as caught:
        decide(request, bo)
    assert caught.value.code == "not_yours_initiator"


def test_two_schedulers_hand_over_once(acme: Tenant, alice: Member, bo: Member, chen: Member) -> None:
    row = rotation(acme, bo, chen)
    request = asks(acme, alice, row)
    hours_pass(request, 1.1)
    escalation.sweep()
    with scope(acme.pk):
        rotations.change(row.pk, actor=WORKER, changes={"members": [str(chen.pk), str(bo.pk)]})
    at_once(*[lambda: escalation.handle(request.tenant_id, request.pk)] * 4)
    assert asked(request) == {"Alice", "Chen"}
    with scope(acme.pk):
        rows = Asked.objects.filter(request=request).select_related("member__person")
        assert sorted((row.member.name, row.until is None) for row in rows) == [
            ("Alice", True),
            ("Bo", False),
            ("Chen", True),
        ]
        told_to = Delivery.objects.filter(request=request, member=chen)
        assert told_to.count() == 1


def test_a_level_may_count_working_time(acme: Tenant, alice: Member, bo: Member) -> None:
    with scope(acme.pk):
        # Working hours of one minute in the middle of a day that is not today.
        day = (clock.now() + timedelta(days=3)).date()
        seldom = working_hours.create(
            actor=WORKER, name="Seldom", zone="UTC",
            week={week_texts.WEEKDAYS[day.weekday()]: [["12:00", "13:00"]]},
        )  # fmt: skip
    row = rotation(acme, bo)
    team = group(acme, "Team", alice)
    policy = on_call_after(acme, row, after=1800)
    with scope(acme.pk):
        changes = {"working_time": True, "calendar": "Seldom"}
        escalation_policies.change(UUID(policy), actor=WORKER, changes=changes)
    body = {"working_time": True, "calendar": str(seldom.pk), "response_timeout": 2700}
    rule(acme, alice, of=[{"group": team.name}], escalation_policy=policy, **body)
    request = park(acme)
    noon = datetime.combine(day, time(12), UTC)
    assert (request.next_at, request.deadline) == (noon + timedelta(minutes=30), noon + timedelta(minutes=45))
    escalation.sweep()
    assert asked(request) == {"Alice"}


def test_the_earliest_of_two_calendars_counts(acme: Tenant, alice: Member) -> None:
    week = {day: [["00:00", "24:00"]] for day in week_texts.WEEKDAYS}
    with scope(acme.pk):
        working_hours.create(actor=WORKER, name="Always", zone="UTC", week=week)
    rule(acme, alice, name="One", working_time=True, response_timeout=600, calendar="Always")
    rule(acme, alice, name="Two", working_time=True, response_timeout=600)
    request = park(acme)
    assert request.deadline == request.opened_at + timedelta(seconds=600)


def test_a_chain_of_stand_ins_is_followed_and_ends(acme: Tenant, alice: Member, bo: Member, chen: Member) -> None:
    dora, emil = (make_member(acme, name, "reviewer") for name in ("Dora", "Emil"))
    team = group(acme, "Team", alice)
    rule(acme, alice, of=[{"group": team.name}])
    request = park(acme)
    for absent, instead in ((alice, bo), (bo, chen), (chen, dora), (dora, emil), (emil, alice)):
        stand_in(acme, absent, instead)
    ask_again(acme)
    assert asked(request) == {"Alice", "Bo", "Chen", "Dora"}
    done = decide(request, dora)
    assert (done.request.status, done.review.in_place_of_id) == ("approved", alice.pk)


def test_whoever_is_in_a_chain_and_started_the_run_shuts_it(
    acme: Tenant, alice: Member, bo: Member, chen: Member
) -> None:
    team = group(acme, "Team", alice)
    rule(acme, alice, of=[{"group": team.name}])
    stand_in(acme, alice, bo)
    stand_in(acme, bo, chen)
    for initiator in (alice, bo, chen):
        request = park(acme, a_call(initiators=(initiator.pk,)))
        with pytest.raises(Refusal) as caught:
            decide(request, chen)
        assert caught.value.status == 403


def test_two_who_stand_in_for_each_other_are_two_people(acme: Tenant, alice: Member, bo: Member) -> None:
    team = group(acme, "Team", alice, bo)
    rule(acme, alice, of=[{"group": team.name}], approvals=2)
    stand_in(acme, alice, bo)
    stand_in(acme, bo, alice)
    request = park(acme)
    assert asked(request) == {"Alice", "Bo"}
    assert decide(request, bo).approvals_given == 1
    assert decide(request, alice).request.status == "approved"


def test_a_stand_in_of_somebody_on_call_is_shut_out_where_either_started_the_run(
    acme: Tenant, alice: Member, bo: Member, chen: Member
) -> None:
    """Four eyes stay four, also where the absent one is reached by a rotation and asked only later."""
    row = rotation(acme, bo)
    team = group(acme, "Team", alice)
    rule(acme, alice, of=[{"group": team.name}], escalation_policy=on_call_after(acme, row))
    stand_in(acme, bo, chen)
    for initiator in (bo, chen):
        request = park(acme, a_call(initiators=(initiator.pk,)))
        hours_pass(request, 1.1)
        escalation.sweep()
        assert asked(request) == {"Alice"} | ({"Bo"} if initiator is chen else set())
        with pytest.raises(Refusal) as caught:
            decide(request, chen)
        assert caught.value.status == 403
        assert fresh(request).status == "pending"
    request = park(acme)
    hours_pass(request, 1.1)
    escalation.sweep()
    assert asked(request) == {"Alice", "Bo", "Chen"}
    assert decide(request, chen).review.in_place_of_id == bo.pk


def test_a_stand_in_and_the_one_on_call_are_one_vote_of_two(
    acme: Tenant, alice: Member, bo: Member, chen: Member
) -> None:
    row = rotation(acme, bo)
    request = asks(acme, alice, row, approvals=2)
    stand_in(acme, bo, chen)
    hours_pass(request, 1.1)
    escalation.sweep()
    assert decide(request, chen).approvals_given == 1
    assert decide(request, bo).approvals_given == 1
    assert fresh(request).status == "pending"
    assert decide(request, alice).request.status == "approved"


def test_a_turn_that_ends_by_the_clock_is_handed_over_once_by_many(
    acme: Tenant, alice: Member, bo: Member, chen: Member
) -> None:
    row = rotation(acme, bo)
    with scope(acme.pk):
        ends = clock.now() + timedelta(hours=3)
        made = rotations.override(row.pk, actor=WORKER, member=chen, starts=None, ends=ends)
    request = asks(acme, alice, row)
    hours_pass(request, 1.1)
    at_once(*[lambda: escalation.handle(request.tenant_id, request.pk)] * 4)
    assert asked(request) == {"Alice", "Chen"}
    with scope(acme.pk):
        now = clock.now()
        RotationOverride.objects.filter(pk=made.pk).update(starts=now - timedelta(hours=1), ends=now)
        ApprovalRequest.objects.filter(pk=request.pk).update(due_at=now)
    at_once(*[lambda: escalation.handle(request.tenant_id, request.pk)] * 4)
    assert asked(request) == {"Alice", "Bo"}
    with scope(acme.pk):
        told_to = Delivery.objects.filter(request=request, kind="asked").values_list("member__person__name", flat=True)
        assert sorted(told_to) == ["Alice", "Bo", "Chen"]
    assert [each["because"] for each in told(request, "approval.escalated")] == ["time"]
