"""Delegations: a member names who answers in their place, from when until when."""

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from approvals import clock, errors
from approvals.models import Delegation
from tenants import audit, stamps, times
from tenants.actors import Actor
from tenants.models import Member
from tenants.refusals import not_found
from tenants.scope import current


def delegate(
    *,
    actor: Actor,
    member: Member,
    to: Member,
    starts: datetime | None,
    ends: datetime,
    channel: str = "",
) -> Delegation:
    """Let `to` answer in the place of `member`; what waits already moves too. Raises Refusal 422."""
    begin = starts or clock.now()
    wrong = _wrong(member, to, begin, ends)
    if wrong:
        raise errors.fields(wrong, code="invalid_delegation")
    row = Delegation.objects.create(tenant_id=current(), member=member, stand_in=to, starts=begin, ends=ends)
    stamps.bump()
    detail = {"member": str(member.pk), "to": str(to.pk), "from": begin.isoformat(), "until": ends.isoformat()}
    audit.record("delegation.created", actor=actor, target=f"delegation:{row.pk}", detail=detail, channel=channel)
    return row


def withdraw(delegation_id: UUID, *, actor: Actor, by: Member, channel: str = "") -> None:
    """End a delegation now; votes given under it stay. Only its member or an admin. Raises Refusal 404."""
    row = Delegation.objects.filter(pk=delegation_id, withdrawn_at__isnull=True).first()
    if row is None or (row.member_id != by.pk and not by.has("admin")):
        raise not_found(_("There is no such delegation."))
    row.withdrawn_at = clock.now()
    row.save(update_fields=["withdrawn_at"])
    stamps.bump()
    audit.record("delegation.withdrawn", actor=actor, target=f"delegation:{row.pk}", detail={}, channel=channel)


def away_now() -> dict[UUID, tuple[datetime, str]]:
    """The members who are away now: until when, and the name of who stands in."""
    now = clock.now()
    rows = Delegation.objects.filter(withdrawn_at__isnull=True, starts__lte=now, ends__gt=now)
    return {row.member_id: (row.ends, row.stand_in.name) for row in rows.select_related("stand_in__person")}


def _wrong(member: Member, to: Member, starts: datetime, ends: datetime) -> list[dict[str, str]]:
    found = []
    if to.pk == member.pk or not to.has("reviewer"):
        found.append({"field": "to", "message": _("Only another reviewer can stand in.")})
    if ends <= starts:
        found.append({"field": "until", "message": _("The end comes after the beginning.")})
    elif ends <= clock.now():
        found.append({"field": "until", "message": _("The end lies in the past.")})
    for name, at in (("from", starts), ("until", ends)):
        if times.too_far(at, now=clock.now()):
            found.append({"field": name, "message": _("This lies more than ten years away.")})
    overlapping = Delegation.objects.filter(member=member, withdrawn_at__isnull=True, starts__lt=ends, ends__gt=starts)
    if overlapping.exists():
        found.append({"field": "from", "message": _("Somebody stands in during that time already.")})
    return found
