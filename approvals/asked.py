"""Who was asked, when and why: the record and the list; `reviewers` stays the judge."""

from collections.abc import Mapping
from uuid import UUID

from django.utils.translation import gettext as _

from approvals.models import ApprovalRequest, Asked
from approvals.reviewers import Verdict
from approvals.rosters import Roster
from tenants import exact_json, ids


def may(found: Mapping[UUID, Verdict]) -> str:
    """Everyone who may answer now (`able`), as the database takes it: [{member, id, level, because}], the id for a new
    row."""
    rows = [
        {"member": str(key), "id": str(ids.new()), "level": each.level, "because": each.asked_as}
        for key, each in found.items()
    ]
    return exact_json.dumps(rows)


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
