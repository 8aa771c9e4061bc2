"""Who was asked, when and why: the record and the list; `reviewers` stays the judge."""

from uuid import UUID

from django.utils.translation import gettext as _

from approvals.models import ApprovalRequest, Asked
from approvals.reviewers import Asking, able
from approvals.rosters import Roster
from tenants import exact_json, ids, prepared

_ASK = prepared.statement("request_ask", "uuid uuid timestamptz json")


def refresh(request: ApprovalRequest, people: Roster, ask: Asking) -> list[UUID]:
    """Let the open rows be those who may answer now; return the members who were not asked before."""
    may = [
        {"member": str(member), "id": str(ids.new()), "level": verdict.level, "because": verdict.asked_as}
        for member, verdict in able(people, ask).items()
    ]
    key = (str(request.tenant_id), str(request.pk), people.now.isoformat())
    return [member for (member,) in prepared.every(_ASK, (*key, exact_json.dumps(may)))]


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
