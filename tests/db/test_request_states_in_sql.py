"""The last line: PostgreSQL refuses what the table of states does not list, whoever asks."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, ProgrammingError, connection, transaction

from approvals import states
from approvals.models import FROZEN, ApprovalRequest, Delivery, Review
from tenants import ids
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.requests import park

ENDS = sorted(states.FINISHED)


def force(request: ApprovalRequest, **values: Any) -> None:
    """Write past all of our code, as a careless query could."""
    names = ", ".join(f"{name} = %s" for name in values)
    with scope(request.tenant_id), transaction.atomic(), connection.cursor() as cursor:
        query = f"UPDATE approvals_approvalrequest SET {names} WHERE id = %s"
        cursor.execute(query, [*values.values(), request.pk])


def end(request: ApprovalRequest, status: str) -> None:
    force(request, status=status, decided_at="2026-11-29T12:00:00Z")


@pytest.mark.parametrize("status", ENDS)
def test_a_pending_request_may_end(parked: ApprovalRequest, status: str) -> None:
    end(parked, status)
    with scope(parked.tenant_id):
        assert ApprovalRequest.objects.get(pk=parked.pk).status == status


@pytest.mark.parametrize("before", ENDS)
@pytest.mark.parametrize("after", ["pending", *ENDS])
def test_an_ended_request_stays_as_it_is(parked: ApprovalRequest, before: str, after: str) -> None:
    end(parked, before)
    if after == before or (before, after) == ("approved", "superseded"):
        end(parked, after)
        return
    with pytest.raises(DatabaseError, match=f"{before} to {after} is not allowed"):
        end(parked, after)


@pytest.mark.parametrize("status", ENDS)
def test_no_request_begins_ended(parked: ApprovalRequest, status: str) -> None:
    parked.pk, parked.ref, parked.status = ids.new(), "2", status
    with scope(parked.tenant_id), pytest.raises(DatabaseError, match="nothing to"), transaction.atomic():
        parked.save(force_insert=True)


def test_a_status_nobody_knows_is_refused(parked: ApprovalRequest) -> None:
    with pytest.raises(DatabaseError):
        end(parked, "unheard")


@pytest.mark.parametrize("column", [name for name in FROZEN if name not in ("tenant_id", "supersedes_id")])
def test_what_was_asked_is_frozen(parked: ApprovalRequest, column: str) -> None:
    values = {"initiators": [ids.new()], "opened_at": "2020-01-01T00:00:00Z", "round": 7}
    odd = values.get(
        column, '{"a": 1}' if column in ("definition", "initiator", "labels", "run", "difference") else "9"
    )
    with pytest.raises(DatabaseError, match="frozen"):
        force(parked, **{column: odd})


def test_an_end_has_a_time(parked: ApprovalRequest) -> None:
    with pytest.raises(IntegrityError):
        force(parked, status="expired")


def test_one_step_has_one_open_request(acme: Tenant, alice: Member) -> None:
    first = park(acme, subject="case:1")
    with pytest.raises(IntegrityError), transaction.atomic():
        park(acme, subject="case:1")
    assert park(acme, subject="case:1", ref="2").pk != first.pk


@pytest.mark.parametrize("table", ["requestversion", "review", "reassignment", "requestcomment", "policyversion"])
@pytest.mark.parametrize("verb", ["UPDATE {} SET tenant_id = tenant_id", "DELETE FROM {}"])
def test_what_was_said_is_only_added_to(acme: Tenant, table: str, verb: str) -> None:
    with scope(acme.pk), pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        connection.cursor().execute(verb.format(f"approvals_{table}"))


def refer(request: ApprovalRequest, member: Member) -> None:
    """Write an answer of one tenant's member to another tenant's request."""
    with scope(member.tenant_id), transaction.atomic():
        Review.objects.create(
            tenant_id=member.tenant_id,
            request_id=request.pk,
            member=member,
            version=1,
            decision="approve",
            channel="x",
            actor={},
        )
        connection.check_constraints()


def test_a_request_of_another_tenant_cannot_be_referred_to(parked: ApprovalRequest, stranger: Member) -> None:
    with pytest.raises(IntegrityError):
        refer(parked, stranger)


@pytest.mark.parametrize(
    ("path", "good"),
    [
        (["sending", "sent"], True),
        (["sending", "pending", "sending", "given_up"], True),
        (["given_up"], True),
        (["sent"], False),
        (["sending", "sent", "pending"], False),
        (["given_up", "pending"], False),
    ],
)
def test_a_delivery_moves_only_as_listed(parked: ApprovalRequest, path: list[str], good: bool) -> None:
    with scope(parked.tenant_id):
        row = Delivery.objects.create(
            tenant_id=parked.tenant_id, request=parked, kind="asked", key="k", address="a@acme.example"
        )
        for status in path[:-1]:
            Delivery.objects.filter(pk=row.pk).update(status=status)
        if good:
            Delivery.objects.filter(pk=row.pk).update(status=path[-1])
            return
        with pytest.raises(DatabaseError, match="not allowed"), transaction.atomic():
            Delivery.objects.filter(pk=row.pk).update(status=path[-1])
