"""Requests are opened, closed with what they are about, and replaced when what they rest on moved."""

from typing import Any

import pytest

from approvals import clock, decisions, hands, requests, reviewers
from approvals.models import ApprovalRequest, Asked
from approvals.requirements import Requirement
from tenants import events
from tenants.actors import SYSTEM
from tenants.errors import NoSubject
from tenants.locks import hold
from tenants.models import Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import ARGUMENTS, WORKER, a_call, demanded, fresh, park, rule

DIFFERENCE = {"because": "The order was changed.", "fields": [{"name": "total", "before": "1", "after": "2"}]}


def approve(request: ApprovalRequest, member: Member) -> None:
    decisions.decide(
        request.pk, tenant=request.tenant_id, actor=actor(member), decision="approve", version=1, channel="api"
    )


def supersede(request: ApprovalRequest, *, keep_votes: bool, **changes: Any) -> ApprovalRequest:
    with scope(request.tenant_id):
        hold(request.subject)
        call = a_call(risk=request.risk, **changes)
        return requests.supersede(
            request.pk,
            call=call,
            requirement=demanded(call),
            actor=WORKER,
            difference=DIFFERENCE,
            keep_votes=keep_votes,
        )


def test_the_deadline_counts_from_when_it_is_listed(acme: Tenant, alice: Member) -> None:
    rule(acme, alice, response_timeout=300)
    with scope(acme.pk):
        before = clock.now()
    request = park(acme)
    assert 300 <= (request.deadline - before).total_seconds() < 310
    assert request.deadline == fresh(request).deadline


def test_asked_are_those_who_may_answer(acme: Tenant, alice: Member, bo: Member, mona: Member, ravi: Member) -> None:
    request = park(acme, a_call(initiators=(bo.pk,)))
    with scope(acme.pk):
        assert set(Asked.objects.filter(request=request).values_list("member_id", flat=True)) == {alice.pk}


def test_opening_needs_the_lock(acme: Tenant, alice: Member) -> None:
    with scope(acme.pk), pytest.raises(NoSubject):
        requests.open(a_call(), subject="case:1", ref="1", requirement=demanded(a_call()), actor=WORKER)


@pytest.mark.parametrize("outcome", ["allow", "deny"])
def test_a_call_that_needs_nobody_has_no_request(acme: Tenant, outcome: Any) -> None:
    with scope(acme.pk):
        hold("case:1")
        with pytest.raises(ValueError, match="no request"):
            requests.open(a_call(), subject="case:1", ref="1", requirement=Requirement(outcome=outcome), actor=WORKER)


def test_closing_with_its_subject_leaves_nothing_to_answer(acme: Tenant, alice: Member) -> None:
    one, two, other = (park(acme, subject="case:1", ref=ref) for ref in "123")
    approve(other, alice)
    with scope(acme.pk):
        hold("case:1")
        closed = requests.cancel_open("case:1", actor=SYSTEM, because="the run was cancelled")
    assert closed == [one.pk, two.pk]
    assert (fresh(one).status, fresh(other).status) == ("cancelled", "approved")
    with scope(acme.pk):
        assert not Asked.objects.filter(until__isnull=True).exists()
    with pytest.raises(Refusal) as caught:
        approve(one, alice)
    assert (caught.value.status, caught.value.code) == (409, "cancelled")


def test_a_superseding_request_shows_the_difference_and_votes_lapse(acme: Tenant, alice: Member) -> None:
    old = park(acme)
    approve(old, alice)
    new = supersede(old, keep_votes=False, arguments={**ARGUMENTS, "amount": "9.00"})
    assert (fresh(old).status, new.status, new.round, new.supersedes_id) == ("superseded", "pending", 1, old.pk)
    assert new.difference == DIFFERENCE
    with scope(acme.pk):
        names = [row.name for row in events.after(old.subject, 0, 50)]
        view = requests.latest(old.subject)["1"]
    assert names[-2:] == ["approval.superseded", "approval.requested"]
    assert (view.id, view.round, view.status) == (new.pk, 1, "pending")


def test_votes_are_carried_over_where_only_the_rules_moved(acme: Tenant, alice: Member, bo: Member) -> None:
    old = park(acme)
    approve(old, alice)
    rule(acme, alice, approvals=2)
    new = supersede(old, keep_votes=True)
    assert new.status == "pending"
    with scope(acme.pk):
        hold(new.subject)
        assert hands.of(new).progress == (1, 2)
    approve(new, bo)
    assert fresh(new).status == "approved"


def test_a_carried_vote_that_suffices_approves_at_once(acme: Tenant, alice: Member) -> None:
    old = park(acme)
    approve(old, alice)
    assert supersede(old, keep_votes=True).status == "approved"


def test_an_approval_stands_while_its_voters_may_decide(acme: Tenant, alice: Member, bo: Member) -> None:
    request = park(acme)
    approve(request, alice)
    with scope(acme.pk):
        assert reviewers.approval_stands(fresh(request))
        Member.objects.filter(pk=alice.pk).update(roles=["manager"])
        assert not reviewers.approval_stands(fresh(request))


def test_the_latest_of_each_step_is_what_counts(acme: Tenant, alice: Member) -> None:
    park(acme, subject="case:1", ref="3")
    second = park(acme, subject="case:1", ref="4")
    approve(second, alice)
    with scope(acme.pk):
        found = requests.latest("case:1")
        assert requests.latest("case:2") == {}
    assert {ref: view.status for ref, view in found.items()} == {"3": "pending", "4": "approved"}
    assert found["4"].voters == (alice.pk,)
    assert found["4"].arguments == found["3"].arguments


def test_precedents_are_frozen_with_the_request(acme: Tenant, alice: Member) -> None:
    for amount in ("10.00", "20.00", "30.00", "40.00", "50.00"):
        approve(park(acme, a_call(arguments={**ARGUMENTS, "amount": amount})), alice)
    large = park(acme)
    assert large.precedents["total"] == 5
    assert large.precedents["rows"][0]["differs"] == ["amount"]
    assert [flag["code"] for flag in large.flags] == ["unusual"]
    assert large.flags[0]["larger_than"] == 5
