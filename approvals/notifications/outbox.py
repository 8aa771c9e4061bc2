"""What people are to be told: rows written in the transaction that gives the reason, each told once."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now

from approvals.models import ApprovalRequest, Delivery
from tenants.models import Member, Tenant
from tenants.scope import current

ASKED, AGAIN, CLOSING, LAPSED, ENDED, NOBODY, UNREADABLE = (
    "asked",
    "asked_again",
    "closing_soon",
    "vote_lapsed",
    "ended",
    "nobody_left",
    "not_evaluable",
)


def tell(request: ApprovalRequest, kind: str, members: Iterable[UUID], *, mark: str = "") -> None:
    """Let each member be told of this once; `mark` tells apart what may come more than once (a level, a version).

    Writes nothing where no mail can be sent, or the tenant wants none.
    """
    wanted = list(dict.fromkeys(members))
    if not wanted or not mail_is_on() or not _tenant_wants():
        return
    found = Member.objects.filter(pk__in=wanted, active=True).select_related("person")
    Delivery.objects.bulk_create(
        [
            Delivery(
                tenant_id=current(),
                request=request,
                member=member,
                kind=kind,
                key=f"{request.pk}:{kind}:{mark}",
                address=member.email,
                due_at=Now(),
            )
            for member in found
        ],
        ignore_conflicts=True,
    )


def tell_admins(request: ApprovalRequest, kind: str, *, mark: str = "") -> None:
    """Let the tenant's admins be told of this once."""
    admins = Member.objects.filter(active=True, roles__contains=["admin"]).values_list("pk", flat=True)
    tell(request, kind, admins, mark=mark)


def mail_is_on() -> bool:
    """Whether there is a mail server: the console of a laptop is none."""
    return "console" not in settings.EMAIL_BACKEND and "dummy" not in settings.EMAIL_BACKEND


def reached(request: ApprovalRequest) -> bool:
    """Whether a message about this request has been taken by a mail server."""
    return Delivery.objects.filter(request=request, status="sent").exists()


def closing_at(request: ApprovalRequest) -> datetime:
    """When those who are asked are reminded that the deadline is near: after nine tenths of the time."""
    return request.opened_at + (request.deadline - request.opened_at) * 0.9


def _tenant_wants() -> bool:
    wishes = Tenant.objects.values_list("notifications", flat=True).get(pk=current())
    return (wishes or {}).get("email") is not False
