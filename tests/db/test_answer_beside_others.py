"""An answer that another audit entry came before is given anew, once, and its own entry follows that one."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from uuid import UUID

import pytest
from django.db import connection

from approvals import decisions, hands
from approvals.hands import Hand
from approvals.models import ApprovalRequest, Review
from tenants import audit
from tenants.actors import COMMAND
from tenants.models import AuditEntry, Event, Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tenants.verification import verify
from tests.cast.people import actor

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def taken(acme: Tenant, monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """Every request that was taken; behind the first, somebody else's act is committed."""
    found: list[UUID] = []
    take = hands.take

    def overtaken(request_id: UUID) -> Hand | None:
        hand = take(request_id)
        if not found:
            with ThreadPoolExecutor(1) as beside:
                beside.submit(_act, acme).result()
        found.append(request_id)
        return hand

    monkeypatch.setattr(hands, "take", overtaken)
    return found


def _act(tenant: Tenant) -> None:
    try:
        with scope(tenant.pk):
            audit.record("run.commented", actor=COMMAND, target="run:1")
    finally:
        connection.close()


def _written(tenant: Tenant) -> list[str]:
    with scope(tenant.pk, read_only=True):
        assert verify().holds
        return list(AuditEntry.objects.order_by("-seq").values_list("action", flat=True)[:2])


@pytest.mark.parametrize("nested", [False, True], ids=["alone", "inside another scope"])
def test_an_answer_is_kept_once(
    parked: ApprovalRequest, acme: Tenant, alice: Member, taken: list[UUID], nested: bool
) -> None:
    with scope(acme.pk) if nested else nullcontext():
        values = {"decision": "approve", "version": 1, "channel": "api"}
        decided = decisions.decide(parked.pk, tenant=acme.pk, actor=actor(alice), **values)
    assert (decided.request.status, taken) == ("approved", [parked.pk] * 2)
    assert _written(acme) == ["approval.decided", "run.commented"]
    with scope(acme.pk):
        assert Review.objects.filter(request=parked).count() == 1
        assert Event.objects.filter(subject=parked.subject, name="approval.approved").count() == 1


def test_a_refusal_is_written_once(parked: ApprovalRequest, acme: Tenant, alice: Member, taken: list[UUID]) -> None:
    with pytest.raises(Refusal):
        decisions.decide(parked.pk, tenant=acme.pk, actor=actor(alice), decision="approve", version=2, channel="api")
    assert taken == [parked.pk] * 2
    assert _written(acme) == ["approval.decided", "run.commented"]
