"""One answer to one version: who may give it, what it comes to, and what is refused."""

from typing import Any
from uuid import UUID

import pytest

from approvals import decisions, requests
from approvals.decisions import Decided
from approvals.models import ApprovalRequest, Review
from approvals.signals import request_resolved
from tenants import events, ids
from tenants.actors import Actor
from tenants.models import AuditEntry, GroupMember, Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast.people import actor, make_member
from tests.cast.requests import ARGUMENTS, a_call, fresh, group, park, rule


def decide(request: ApprovalRequest, member: Member, decision: Any = "approve", **sent: Any) -> Decided:
    sent = {"version": 1, "channel": "api", **sent}
    return decisions.decide(request.pk, tenant=request.tenant_id, actor=actor(member), decision=decision, **sent)


def refused(request: ApprovalRequest, member: Member, decision: Any = "approve", **sent: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        decide(request, member, decision, **sent)
    return caught.value


def story(request: ApprovalRequest) -> list[str]:
    with scope(request.tenant_id):
        return [row.name for row in events.after(request.subject, 0, 100)]


def refusals(tenant: Tenant, request: ApprovalRequest) -> int:
    with scope(tenant.pk):
        return AuditEntry.objects.filter(target=f"request:{request.pk}", refused=True).count()


def test_one_approval_suffices_for_a_high_risk(parked: ApprovalRequest, alice: Member) -> None:
    done = decide(parked, alice)
    assert (done.request.status, done.approvals_given, done.approvals_needed) == ("approved", 1, 1)
    assert done.request.decision == "approve"
    assert story(parked) == ["approval.requested", "approval.reviewed", "approval.approved"]


def test_a_rejection_tells_the_floor_above_its_reason(parked: ApprovalRequest, alice: Member) -> None:
    heard: list[dict[str, Any]] = []

    def hear(**told: Any) -> None:
        heard.append(told)

    request_resolved.connect(hear)
    try:
        decide(parked, alice, "reject", comment="No photo.")
    finally:
        request_resolved.disconnect(hear)
    assert heard[0]["status"] == "rejected"
    assert "No photo." in heard[0]["text"]
    assert heard[0]["subject"] == parked.subject


def test_a_decision_fails_when_its_receiver_does(parked: ApprovalRequest, alice: Member) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("the floor above is broken")

    request_resolved.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            decide(parked, alice)
    finally:
        request_resolved.disconnect(fail)
    assert fresh(parked).status == "pending"


@pytest.mark.parametrize("decision", [None, "", True, "approved?", "APPROVE", 1, ["approve"], {}])
def test_what_is_no_decision_decides_nothing(parked: ApprovalRequest, alice: Member, decision: Any) -> None:
    assert refused(parked, alice, decision).status == 422
    assert fresh(parked).status == "pending"


@pytest.mark.parametrize("version", [None, "1", True, 0, -1, 1.0, 2**40])
def test_an_answer_names_the_version_it_is_about(parked: ApprovalRequest, alice: Member, version: Any) -> None:
    assert refused(parked, alice, version=version).status == 422
    assert fresh(parked).status == "pending"


def test_deny_is_another_word_for_reject(parked: ApprovalRequest, alice: Member) -> None:
    assert decide(parked, alice, "deny", comment="No.").request.status == "rejected"


def test_a_rejection_of_a_high_risk_needs_a_reason(parked: ApprovalRequest, alice: Member) -> None:
    for nothing in ("", "  ", "\u200b\u2060"):
        refusal = refused(parked, alice, "reject", comment=nothing)
        assert (refusal.status, refusal.code) == (422, "reason_required")
        assert refusal.errors[0]["field"] == "comment"


def test_a_rejection_needs_no_reason_where_the_rule_says_so(acme: Tenant, alice: Member) -> None:
    rule(acme, alice, reason_required=False)
    assert decide(park(acme), alice, "reject").request.status == "rejected"


def test_nul_is_refused_with_a_sentence(parked: ApprovalRequest, alice: Member) -> None:
    assert refused(parked, alice, "reject", comment="no\x00").status == 422


def test_an_answer_in_the_tools_place_is_no_refusal(parked: ApprovalRequest, alice: Member) -> None:
    assert refused(parked, alice, "respond").status == 422
    done = decide(parked, alice, "respond", response="Refunded by hand.")
    with scope(parked.tenant_id):
        view = requests.latest(parked.subject)["1"]
    assert (done.request.status, view.response) == ("responded", "Refunded by hand.")
    assert "Refunded by hand." in view.text


def test_the_second_answer_is_told_who_was_first(parked: ApprovalRequest, alice: Member, bo: Member) -> None:
    decide(parked, alice)
    refusal = refused(parked, bo, "reject", comment="No.")
    assert (refusal.status, refusal.code) == (409, "already_decided")
    assert refusal.standing is not None
    assert refusal.standing["by"] == alice.name
    assert refusal.standing["status"] == "approved"
    assert refusal.standing["at"]
    assert fresh(parked).status == "approved"


def test_a_refused_answer_is_kept_in_the_audit(parked: ApprovalRequest, acme: Tenant, mona: Member) -> None:
    assert refused(parked, mona).status == 403
    assert refusals(acme, parked) == 1


def test_an_unknown_request_and_a_foreign_one_answer_alike(parked: ApprovalRequest, stranger: Member) -> None:
    answers = []
    for key in (parked.pk, ids.new()):
        with pytest.raises(Refusal) as caught:
            decisions.decide(
                key, tenant=stranger.tenant_id, actor=actor(stranger), decision="approve", version=1, channel="api"
            )
        answers.append((caught.value.status, caught.value.code, str(caught.value.detail)))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404


def test_an_initiator_never_decides(acme: Tenant, alice: Member, bo: Member) -> None:
    request = park(acme, a_call(initiators=(alice.pk,)))
    assert refused(request, alice).status == 403
    assert refused(request, alice, "reject", comment="No.").status == 403
    assert refusals(acme, request) == 2
    assert decide(request, bo).request.status == "approved"


def test_initiators_may_review_where_the_tenant_says_so_but_never_critical(acme: Tenant, alice: Member) -> None:
    acme.initiators_may_review = True
    acme.save()
    critical = park(acme, a_call(initiators=(alice.pk,), risk="critical"))
    high = park(acme, a_call(initiators=(alice.pk,)))
    assert refused(critical, alice).status == 403
    assert decide(high, alice).request.status == "approved"


def test_one_person_counts_once(acme: Tenant, alice: Member, bo: Member) -> None:
    request = park(acme, a_call(risk="critical"))
    assert decide(request, alice).approvals_given == 1
    assert refused(request, alice, comment="again").code == "already_answered"
    assert fresh(request).status == "pending"
    done = decide(request, bo)
    assert (done.request.status, done.approvals_given, done.approvals_needed) == ("approved", 2, 2)


def test_who_approved_may_still_reject(acme: Tenant, alice: Member, bo: Member) -> None:
    request = park(acme, a_call(risk="critical"))
    decide(request, alice)
    assert decide(request, alice, "reject", comment="I was wrong.").request.status == "rejected"


def test_people_outside_the_group_do_not_count(acme: Tenant, alice: Member, bo: Member) -> None:
    carol = make_member(acme, "Carol", "reviewer")
    finance = group(acme, "Finance", carol)
    rule(acme, alice, of=[{"group": "Finance"}], approvals=1)
    request = park(acme)
    for member in (alice, bo):
        assert refused(request, member).status == 403
    assert decide(request, carol).request.status == "approved"
    assert finance.name == "Finance"


def test_a_vote_lapses_with_the_right_to_give_it(acme: Tenant, alice: Member, bo: Member) -> None:
    finance = group(acme, "Finance", alice, bo)
    rule(acme, alice, of=[{"group": "Finance"}], approvals=2)
    request = park(acme)
    decide(request, alice)
    with scope(acme.pk):
        GroupMember.objects.filter(group=finance, member=alice).delete()
    done = decide(request, bo)
    assert (done.request.status, done.approvals_given, done.approvals_needed) == ("pending", 1, 2)


def test_one_from_each_of_two_groups(acme: Tenant, alice: Member, bo: Member) -> None:
    carol = make_member(acme, "Carol", "reviewer")
    group(acme, "Finance", alice, bo)
    group(acme, "Legal", carol)
    places = [{"group": "Finance", "at_least": 1}, {"group": "Legal", "at_least": 1}]
    rule(acme, alice, of=places, approvals=2)
    request = park(acme)
    decide(request, alice)
    assert decide(request, bo).request.status == "pending"
    assert decide(request, carol).request.status == "approved"


def test_members_without_the_role_are_refused_as_the_page_refuses_them(
    parked: ApprovalRequest, acme: Tenant, mona: Member, ravi: Member
) -> None:
    nobody = make_member(acme, "Nora")
    for member in (mona, ravi, nobody):
        assert refused(parked, member).status == 403


def test_a_member_who_left_is_refused(parked: ApprovalRequest, alice: Member) -> None:
    with scope(parked.tenant_id):
        Member.objects.filter(pk=alice.pk).update(active=False)
    assert refused(parked, alice).status == 403


class TestEditing:
    """Edit then approve."""

    def edit(self, request: ApprovalRequest, member: Member, **changes: Any) -> Decided:
        return decide(request, member, "edit", arguments={**ARGUMENTS, **changes})

    def test_an_edit_is_the_vote_for_its_version(self, parked: ApprovalRequest, alice: Member) -> None:
        done = self.edit(parked, alice, amount="1190.00")
        assert (done.request.status, done.request.version, done.request.decision) == ("approved", 2, "edit")
        with scope(parked.tenant_id):
            view = requests.latest(parked.subject)["1"]
        assert '"amount":"1190.00"' in view.arguments.replace(" ", "")
        assert view.edited_fields == ("amount",)
        assert "approval.edited" in story(parked)

    def test_the_title_follows_the_edit(self, parked: ApprovalRequest, alice: Member) -> None:
        self.edit(parked, alice, amount="1190.00")
        with scope(parked.tenant_id):
            assert fresh(parked).versions.get(number=2).title == "Refund 1190.00 EUR for order A-1042"

    @pytest.mark.parametrize(
        ("name", "value"),
        [("count", "2"), ("count", True), ("count", 1.5), ("amount", 5), ("currency", "USD"), ("tool", "wire")],
    )
    def test_nothing_is_retyped(self, parked: ApprovalRequest, alice: Member, name: str, value: Any) -> None:
        refusal = refused(parked, alice, "edit", arguments={**ARGUMENTS, name: value})
        assert refusal.status == 422
        assert refusal.errors[0]["field"] == name
        assert fresh(parked).status == "pending"
        assert fresh(parked).version == 1

    @pytest.mark.parametrize("arguments", [None, [], "x", 1, {}, {"order_id": "A"}])
    def test_half_an_edit_is_none(self, parked: ApprovalRequest, alice: Member, arguments: Any) -> None:
        assert refused(parked, alice, "edit", arguments=arguments).status == 422

    def test_votes_for_the_earlier_version_lapse(self, acme: Tenant, alice: Member, bo: Member) -> None:
        request = park(acme, a_call(risk="critical"))
        decide(request, alice)
        done = self.edit(request, bo, amount="10.00")
        assert (done.request.status, done.approvals_given, done.approvals_needed) == ("pending", 1, 2)
        stale = refused(request, alice)
        assert (stale.status, stale.code) == (409, "changed")
        done = decide(request, alice, version=2)
        assert (done.request.status, done.request.decision) == ("approved", "edit")

    def test_the_stricter_of_the_old_and_the_new_rules_holds(self, acme: Tenant, alice: Member, bo: Member) -> None:
        group(acme, "Finance", bo)
        rule(acme, alice, "Large", when="args.amount > 1000.0", of=[{"group": "Finance"}])
        small = park(acme, a_call(arguments={**ARGUMENTS, "amount": "10.00"}))
        done = self.edit(small, alice, amount="5000.00")
        assert done.request.status == "pending"
        assert decide(small, bo, version=2).request.status == "approved"
        large = park(acme)
        assert refused(large, alice).status == 403
        assert self.edit(large, bo, amount="1.00").request.status == "approved"

    def test_what_the_rules_deny_changes_nothing(self, acme: Tenant, alice: Member) -> None:
        rule(acme, alice, "Never", when="args.amount > 9000.0", outcome="deny")
        request = park(acme)
        refusal = refused(request, alice, "edit", arguments={**ARGUMENTS, "amount": "9001.00"})
        assert (refusal.status, refusal.code) == (422, "rules_deny")
        assert fresh(request).version == 1

    def test_a_large_integer_survives_an_edit(self, acme: Tenant, alice: Member) -> None:
        request = park(acme, a_call(arguments={**ARGUMENTS, "count": 9007199254740993}))
        done = decide(request, alice, "edit", arguments={**ARGUMENTS, "count": 9007199254740993, "note": "x"})
        with scope(acme.pk):
            assert "9007199254740993" in done.hand.version.arguments

    def test_an_edit_is_refused_where_the_rule_does_not_offer_it(self, acme: Tenant, alice: Member) -> None:
        rule(acme, alice, answers=["approve", "reject"])
        request = park(acme)
        refusal = refused(request, alice, "edit", arguments={**ARGUMENTS, "amount": "1.00"})
        assert refusal.code == "answer_not_allowed"
        assert refused(request, alice, "respond", response="done").code == "answer_not_allowed"


def test_a_service_key_cannot_answer(parked: ApprovalRequest) -> None:
    service = Actor(kind="key", id=str(ids.new()), name="robot")
    with pytest.raises(Refusal) as caught:
        decisions.decide(
            parked.pk, tenant=parked.tenant_id, actor=service, decision="approve", version=1, channel="api"
        )
    assert caught.value.status == 403


def test_critical_wants_a_fresh_second_factor_where_the_tenant_does(acme: Tenant, alice: Member, bo: Member) -> None:
    acme.second_factor = True
    acme.save()
    request = park(acme, a_call(risk="critical"))
    assert refused(request, alice).code == "second_factor_required"
    assert decide(request, alice, fresh_factor=True).approvals_given == 1


def test_the_review_says_who_where_and_as_what(parked: ApprovalRequest, alice: Member) -> None:
    decide(parked, alice, comment="Fine.")
    with scope(parked.tenant_id):
        review = Review.objects.get(request=parked)
    assert (review.member_id, review.channel, review.comment) == (alice.pk, "api", "Fine.")
    assert isinstance(review.pk, UUID)
