"""People go, come back and swap turns while others answer: the vote counts or is refused, never half of either."""

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from approvals import absences, clock, escalation, rotations
from approvals.decisions import Decided
from approvals.models import Asked, Review
from tenants.models import Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast.people import actor, make_member
from tests.cast.requests import WORKER, fresh, group, park, rule
from tests.db.test_escalation import asked, hours_pass, stand_in
from tests.db.test_on_call import asks, rotation
from tests.races.test_decide_races import answer, at_once, ends, story_is_gapless

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
ROUNDS = int(os.environ.get("ROUNDS", "10"))


def inside(tenant: Tenant, deed: Callable[[], Any]) -> Callable[[], Any]:
    def done() -> Any:
        with scope(tenant.pk):
            return deed()

    return done


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_stand_in_answers_against_the_end_of_the_absence(
    acme: Tenant, alice: Member, bo: Member, number: int
) -> None:
    group(acme, "Finance", alice)
    rule(acme, alice, of=[{"group": "Finance"}])
    request = park(acme)
    absence = stand_in(acme, alice, bo)
    back = inside(acme, lambda: absences.withdraw(absence.pk, actor=actor(alice), by=alice))
    answered, _back = at_once(answer(request, bo, "approve"), back)
    escalation.sweep()
    if isinstance(answered, Decided):
        assert ends(request) == ["approval.approved"]
        assert fresh(request).status == "approved"
    else:
        assert isinstance(answered, Refusal)
        assert answered.status == 403
        assert asked(request) == {"Alice"}
        with scope(acme.pk):
            assert not Review.objects.filter(request=request).exists()
    assert story_is_gapless(request)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_the_absent_and_the_stand_in_at_once_are_one_vote(acme: Tenant, alice: Member, bo: Member, number: int) -> None:
    chen = make_member(acme, "Chen", "reviewer")
    group(acme, "Finance", alice, chen)
    rule(acme, alice, of=[{"group": "Finance"}], approvals=2)
    request = park(acme)
    until = clock_in(acme) + timedelta(days=1)
    away = inside(acme, lambda: absences.delegate(actor=actor(alice), member=alice, to=bo, starts=None, ends=until))
    at_once(answer(request, alice, "approve"), answer(request, bo, "approve"), away)
    escalation.sweep()
    assert fresh(request).status == "pending"
    assert at_once(answer(request, chen, "approve"))[0].request.status == "approved"
    assert ends(request) == ["approval.approved"]
    assert story_is_gapless(request)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_whoever_hands_over_answers_against_the_hand_over(acme: Tenant, alice: Member, bo: Member, number: int) -> None:
    chen = make_member(acme, "Chen", "reviewer")
    row = rotation(acme, bo, chen)
    request = asks(acme, alice, row)
    hours_pass(request, 1.1)
    escalation.sweep()
    swap = {"members": [str(chen.pk), str(bo.pk)]}
    answered, _row, _looked = at_once(
        answer(request, bo, "approve"),
        inside(acme, lambda: rotations.change(row.pk, actor=WORKER, changes=swap)),
        lambda: escalation.handle(request.tenant_id, request.pk),
    )
    escalation.sweep()
    if isinstance(answered, Decided):
        assert ends(request) == ["approval.approved"]
    else:
        assert answered.status == 403
        assert asked(request) == {"Alice", "Chen"}
        with scope(acme.pk):
            assert Asked.objects.filter(request=request, member=bo, until__isnull=False).count() == 1
    assert story_is_gapless(request)


def clock_in(tenant: Tenant) -> Any:
    with scope(tenant.pk):
        return clock.now()
