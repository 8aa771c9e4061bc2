"""Who was asked, when and why: the record and the list; `reviewers` stays the judge."""

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from approvals.models import ApprovalRequest, Asked
from approvals.reviewers import Asking, able
from approvals.rosters import Roster
from tenants import ids
from tenants.scope import current


def refresh(request: ApprovalRequest, people: Roster, ask: Asking) -> list[UUID]:
    """Let the open rows be those who may answer now; return the members who were not asked before."""
    may = able(people, ask)
    listed = {row.member_id: row for row in Asked.objects.filter(request=request, until__isnull=True)}
    gone = [row.id for member, row in listed.items() if member not in may]
    if gone:
        Asked.objects.filter(id__in=gone).update(until=people.now)
    added = [member for member in may if member not in listed]
    if added:
        Asked.objects.bulk_create(
            Asked(
                tenant_id=current(),
                request=request,
                member_id=member,
                level=may[member].level,
                because=may[member].asked_as,
                since=people.now,
            )
            for member in added
        )
    return added


def close(request: ApprovalRequest, *, now: datetime) -> None:
    """Nobody is asked any longer."""
    Asked.objects.filter(request=request, until__isnull=True).update(until=now)


def now(request: ApprovalRequest) -> list[UUID]:
    """The members who are asked now."""
    rows = Asked.objects.filter(request=request, until__isnull=True)
    return list(rows.values_list("member_id", flat=True))


def because(asked_as: str, people: Roster) -> str:
    """Why a member is asked, as a person reads it."""
    kind, _sep, key = asked_as.partition(":")
    if kind == "group":
        return people.groups.get(key, "–")
    if kind == "role":
        return _("Any administrator") if key == "admin" else _("Any reviewer")
    if kind == "level":
        return _("Level %(level)s") % {"level": key}
    if kind == "rotation":
        found = people.rotations.get(key)
        return _("On call: %(name)s") % {"name": found.rota.name if found else "–"}
    if kind == "stand_in":
        return _("Stands in for %(name)s") % {"name": people.name(ids.parse(key))}
    return _("Reassigned") if kind == "reassigned" else _("Named by the rule")
