"""Real threads on one request: exactly one wins, and the loser is told by whom and when."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from approvals import acts, decisions, escalation, requests
from approvals.decisions import Decided
from approvals.models import ApprovalRequest, Asked, Review
from tenants import events, groups
from tenants.actors import COMMAND, SYSTEM
from tenants.locks import hold
from tenants.models import Group, Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast.people import actor, make_member
from tests.cast.requests import ARGUMENTS, a_call, fresh, group, park, rule
from tests.db.test_escalation import hours_pass, levels

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
ROUNDS = int(os.environ.get("ROUNDS", "10"))
ENDS = {"approval.approved", "approval.rejected", "approval.expired", "approval.cancelled", "approval.responded"}


def at_once(*deeds: Callable[[], Any]) -> list[Any]:
    """What each deed gave or raised, all begun at the same instant."""
    barrier = Barrier(len(deeds))

    def one(deed: Callable[[], Any]) -> Any:
        try:
            barrier.wait(10)
            return deed()
        except Refusal as refusal:
            return refusal
        finally:
            connections["default"].close()

    with ThreadPoolExecutor(len(deeds)) as pool:
        return list(pool.map(one, deeds))


def answer(request: ApprovalRequest, member: Member, decision: str, **sent: Any) -> Callable[[], Any]:
    return lambda: decisions.decide(
        request.pk,
        tenant=request.tenant_id,
        actor=actor(member),
        decision=decision,
        version=1,
        channel="api",
        **{"comment": "because", **sent},
    )


def cancel(request: ApprovalRequest) -> Callable[[], Any]:
    def deed() -> Any:
        with scope(request.tenant_id):
            hold(request.subject)
            return requests.cancel_open(request.subject, actor=SYSTEM, because="the run was cancelled")

    return deed


def swept(request: ApprovalRequest, number: int) -> Callable[[], Any]:
    """What the sweep does about a request: of two rounds it is handled alone in one, as one of many in the other."""
    if number // 2 % 2:
        return partial(escalation.handle_together, [(request.tenant_id, request.pk)])
    return partial(escalation.handle, request.tenant_id, request.pk)


def in_group(change: Callable[..., Any], found: Group, member: Member) -> Callable[[], Any]:
    """Add the member to the group or remove it, as an admin does."""

    def deed() -> Any:
        with scope(found.tenant_id):
            return change(found.pk, member.pk, actor=COMMAND)

    return deed


def ends(request: ApprovalRequest) -> list[str]:
    """The ends that its story tells."""
    with scope(request.tenant_id):
        return [row.name for row in events.after(request.subject, 0, 100) if row.name in ENDS]


def story_is_gapless(request: ApprovalRequest) -> bool:
    with scope(request.tenant_id):
        numbers = [row.seq for row in events.after(request.subject, 0, 100)]
    return numbers == list(range(1, len(numbers) + 1))


def test_approve_against_reject(acme: Tenant, alice: Member, bo: Member) -> None:
    for _number in range(ROUNDS):
        request = park(acme)
        results = at_once(answer(request, alice, "approve"), answer(request, bo, "reject"))
        won = [each for each in results if isinstance(each, Decided)]
        lost = [each for each in results if isinstance(each, Refusal)]
        assert (len(won), len(lost)) == (1, 1)
        assert lost[0].status == 409
        assert lost[0].standing is not None
        assert lost[0].standing["status"] == fresh(request).status == won[0].request.status
        assert lost[0].standing["by"] == ("Alice" if won[0].review.member_id == alice.pk else "Bo")
        assert len(ends(request)) == 1
        assert story_is_gapless(request)


def test_the_same_person_twice_is_one_vote(acme: Tenant, alice: Member, bo: Member) -> None:
    for _number in range(ROUNDS):
        request = park(acme, a_call(risk="critical"))
        at_once(answer(request, alice, "approve"), answer(request, alice, "approve"), answer(request, alice, "approve"))
        with scope(acme.pk):
            assert Review.objects.filter(request=request).count() == 1
        assert fresh(request).status == "pending"


def test_two_of_two_at_once_suffice_once(acme: Tenant, alice: Member, bo: Member) -> None:
    for _number in range(ROUNDS):
        request = park(acme, a_call(risk="critical"))
        results = at_once(answer(request, alice, "approve"), answer(request, bo, "approve"))
        assert all(isinstance(each, Decided) for each in results)
        assert sorted(each.approvals_given for each in results) == [1, 2]
        assert ends(request) == ["approval.approved"]


def test_an_answer_against_the_deadline(acme: Tenant, alice: Member) -> None:
    for number in range(ROUNDS):
        request = park(acme)
        hours_pass(request, 24 - (0.02 if number % 2 else 0) / 3600)
        answered, _swept = at_once(answer(request, alice, "approve"), swept(request, number))
        if isinstance(answered, Refusal):
            assert (answered.status, answered.code) == (409, "expired")
            assert ends(request) == ["approval.expired"]
        else:
            assert ends(request) == ["approval.approved"]
        assert story_is_gapless(request)


def test_an_answer_against_the_end_of_its_run(acme: Tenant, alice: Member) -> None:
    for _number in range(ROUNDS):
        request = park(acme)
        answered, closed = at_once(answer(request, alice, "approve"), cancel(request))
        if isinstance(answered, Refusal):
            assert (answered.status, answered.code) == (409, "cancelled")
            assert closed == [request.pk]
            assert ends(request) == ["approval.cancelled"]
        else:
            assert closed == []
            assert ends(request) == ["approval.approved"]


def test_an_edit_against_an_approval_of_what_was_read(acme: Tenant, alice: Member, bo: Member) -> None:
    for _number in range(ROUNDS):
        request = park(acme)
        edit = answer(request, bo, "edit", arguments={**ARGUMENTS, "amount": "1.00"})
        approved, edited = at_once(answer(request, alice, "approve"), edit)
        row = fresh(request)
        assert row.status == "approved"
        if isinstance(edited, Refusal):
            assert (row.version, row.decision, edited.status) == (1, "approve", 409)
        else:
            assert (row.version, row.decision, approved.status) == (2, "edit", 409)
        assert len(ends(request)) == 1


def test_an_answer_against_its_reassignment(acme: Tenant, alice: Member, bo: Member, mona: Member) -> None:
    rule(acme, alice, of=[{"member": alice.email}])
    for _number in range(ROUNDS):
        request = park(acme)
        answered, moved = at_once(
            answer(request, alice, "approve"),
            partial(acts.reassign, request.pk, tenant=acme.pk, actor=actor(mona), to=bo.email, channel="api"),
        )
        assert isinstance(answered, Refusal) != isinstance(moved, Refusal)
        if isinstance(answered, Refusal):
            assert answered.status == 403
            assert fresh(request).status == "pending"
        else:
            assert moved.status == 409


def test_the_last_vote_against_the_loss_of_the_first_ones_right(acme: Tenant, alice: Member, bo: Member) -> None:
    finance = group(acme, "Finance", alice, bo)
    rule(acme, alice, of=[{"group": "Finance"}], approvals=2)
    for _number in range(ROUNDS):
        request = park(acme)
        answer(request, alice, "approve")()
        done, _left = at_once(answer(request, bo, "approve"), in_group(groups.remove, finance, alice))
        assert isinstance(done, Decided)
        assert done.approvals_given == (2 if done.request.status == "approved" else 1)
        in_group(groups.add, finance, alice)()


def test_an_answer_against_a_level(acme: Tenant, alice: Member, bo: Member, mona: Member) -> None:
    for _number in range(ROUNDS):
        request = park(acme)
        answered, raised = at_once(
            answer(request, alice, "reject"),
            partial(acts.escalate, request.pk, tenant=acme.pk, actor=actor(mona), channel="api"),
        )
        assert isinstance(answered, Decided)
        assert isinstance(raised, Refusal)
        assert raised.status == 409


def test_an_answer_against_a_level_that_is_there(acme: Tenant, alice: Member, bo: Member, mona: Member) -> None:
    leads = group(acme, "Leads", bo)
    levels(acme, (3600, [leads]))
    rule(acme, alice, of=[{"member": alice.email}], escalation_policy="Chain")
    for number in range(ROUNDS):
        request = park(acme)
        by_hand = number % 2
        if not by_hand:
            hours_pass(request, 1.001)
        climbs = [
            swept(request, number),
            partial(acts.escalate, request.pk, tenant=acme.pk, actor=actor(mona), channel="api"),
        ]
        answered, raised = at_once(answer(request, alice, "approve"), climbs[by_hand])
        row = fresh(request)
        assert isinstance(answered, Decided)
        assert (row.status, ends(request)) == ("approved", ["approval.approved"])
        with scope(acme.pk):
            told = [each.name for each in events.after(request.subject, 0, 100)]
            still = Asked.objects.filter(request=request, until__isnull=True).exists()
        assert not still
        assert told.count("approval.escalated") == row.escalation_level
        if isinstance(raised, Refusal):
            assert (raised.status, row.escalation_level) == (409, 0)
        elif by_hand:
            assert row.escalation_level == 1
        if row.escalation_level:
            assert told.index("approval.escalated") < told.index("approval.approved")
        assert story_is_gapless(request)


def test_twenty_people_at_once_are_one_decision(acme: Tenant) -> None:
    people = [make_member(acme, f"R{number}", "reviewer") for number in range(8)]
    request = park(acme)
    results = at_once(*[answer(request, each, "approve" if i % 2 else "reject") for i, each in enumerate(people)])
    assert sum(isinstance(each, Decided) for each in results) == 1
    assert {each.status for each in results if isinstance(each, Refusal)} == {409}
    assert len(ends(request)) == 1
    assert story_is_gapless(request)


def test_two_sweeps_at_once_expire_once(acme: Tenant, alice: Member) -> None:
    for _number in range(ROUNDS):
        request = park(acme)
        hours_pass(request, 25)
        at_once(*[swept(request, turn) for turn in range(4)])
        assert ends(request) == ["approval.expired"]


def test_an_answer_against_the_loss_of_its_givers_place(acme: Tenant, alice: Member) -> None:
    finance = group(acme, "Finance", alice)
    rule(acme, alice, of=[{"group": "Finance"}])
    for _number in range(ROUNDS):
        request = park(acme)
        answered, _left = at_once(answer(request, alice, "approve"), in_group(groups.remove, finance, alice))
        if isinstance(answered, Refusal):
            assert (answered.status, fresh(request).status, ends(request)) == (403, "pending", [])
        else:
            assert (fresh(request).status, ends(request)) == ("approved", ["approval.approved"])
        in_group(groups.add, finance, alice)()


def test_an_edit_against_an_edit(acme: Tenant, alice: Member, bo: Member) -> None:
    for _number in range(ROUNDS):
        request = park(acme)
        edits = [
            answer(request, each, "edit", arguments={**ARGUMENTS, "amount": amount})
            for each, amount in ((alice, "1.00"), (bo, "2.00"))
        ]
        results = at_once(*edits)
        lost = [each for each in results if isinstance(each, Refusal)]
        assert [each.status for each in lost] == [409]
        assert (fresh(request).version, fresh(request).decision) == (2, "edit")
        assert len(ends(request)) == 1
        assert story_is_gapless(request)


def test_the_deadline_against_the_end_of_its_run(acme: Tenant, alice: Member) -> None:
    for number in range(ROUNDS):
        request = park(acme)
        hours_pass(request, 25)
        _swept, closed = at_once(swept(request, number), cancel(request))
        assert ends(request) == ["approval.cancelled" if closed else "approval.expired"]
        assert story_is_gapless(request)


def test_the_deadline_against_a_level_by_hand(acme: Tenant, alice: Member, bo: Member, mona: Member) -> None:
    levels(acme, (3600, [group(acme, "Leads", bo)]))
    rule(acme, alice, of=[{"member": alice.email}], escalation_policy="Chain")
    for number in range(ROUNDS):
        request = park(acme)
        hours_pass(request, 25)
        by_hand = partial(acts.escalate, request.pk, tenant=acme.pk, actor=actor(mona), channel="api")
        _swept, raised = at_once(swept(request, number), by_hand)
        assert isinstance(raised, Refusal)
        assert (raised.status, raised.code) == (409, "expired")
        assert ends(request) == ["approval.expired"]


def test_two_levels_by_hand_at_once_are_two_steps_or_one_and_a_refusal(
    acme: Tenant, alice: Member, bo: Member, mona: Member
) -> None:
    levels(acme, (3600, [group(acme, "Leads", bo)]))
    rule(acme, alice, of=[{"member": alice.email}], escalation_policy="Chain")
    for _number in range(ROUNDS):
        request = park(acme)
        by_hand = partial(acts.escalate, request.pk, tenant=acme.pk, actor=actor(mona), channel="api")
        results = at_once(by_hand, by_hand)
        assert [each.code for each in results if isinstance(each, Refusal)] == ["no_next_level"]
        with scope(acme.pk):
            told = [each.name for each in events.after(request.subject, 0, 100)]
            asked = Asked.objects.filter(request=request, until__isnull=True)
            assert sorted(row.member_id for row in asked) == sorted([alice.pk, bo.pk])
        assert told.count("approval.escalated") == 1
        assert story_is_gapless(request)


def test_two_whole_sweeps_at_once_end_each_once(acme: Tenant, alice: Member) -> None:
    requests_due = [park(acme) for _number in range(ROUNDS)]
    for request in requests_due:
        hours_pass(request, 25)
    shares = [[(acme.pk, each.pk) for each in requests_due[::step]] for step in (1, -1, 1)]
    at_once(partial(_each_handled, shares[0]), *[partial(escalation.handle_together, share) for share in shares[1:]])
    assert all(ends(request) == ["approval.expired"] for request in requests_due)


def _each_handled(share: list[tuple[UUID, UUID]]) -> None:
    for tenant, request in share:
        escalation.handle(tenant, request)
