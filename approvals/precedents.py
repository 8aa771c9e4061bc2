"""What was answered before on the same tool: the last decisions, and how their values differ from these."""

from typing import Any

from django.db.models import F

from approvals.calls import ProposedCall
from approvals.checks import number, text_of
from approvals.models import ApprovalRequest, RequestVersion
from tenants import exact_json

SHOWN = 5
COUNTED = 50
_READ = ("subject", "ref", "status", "decision", "opened_at", "decided_at", "decided_by", "comment")
_ANSWERED = ("approved", "rejected", "responded")


def past(call: ProposedCall) -> dict[str, Any]:
    """The last decisions on the call's tool, to be frozen with the new request.

    `rows` are the nearest five `{id, subject, ref, at, title, status, decision, by, values, differs}`, the last
    answered first, without sensitive values; `numbers` holds per parameter the numbers of the last fifty, as text;
    `total` how many of these there were. Empty where nothing was answered before.
    """
    found = _decided(call.tool)
    hidden = set(call.sensitive)
    mine = _values(call.arguments, hidden)
    rows = [(version, _values(version.arguments, hidden)) for version in found]
    numbers: dict[str, list[str]] = {}
    for _version, values in rows:
        for name, value in values.items():
            if (amount := number(value)) is not None:
                numbers.setdefault(name, []).append(f"{amount:f}")
    shown = [_row(version, values, mine) for version, values in rows[:SHOWN]]
    return {"rows": shown, "numbers": numbers, "total": len(rows)} if rows else {}


def _decided(tool: str) -> list[RequestVersion]:
    """The final versions of the tool's last requests that were answered, the last answered first; one query."""
    versions = RequestVersion.objects.filter(
        request__tool=tool, request__status__in=_ANSWERED, number=F("request__version")
    )
    newest = versions.select_related("request").order_by("-request__opened_at", "-request__id")
    found = newest.only("title", "arguments", *[f"request__{name}" for name in _READ])[:COUNTED]
    return sorted(found, key=lambda version: version.request.decided_at or version.request.opened_at, reverse=True)


def _values(arguments: str, hidden: set[str]) -> dict[str, Any]:
    return {name: value for name, value in dict(exact_json.loads(arguments)).items() if name not in hidden}


def _row(version: RequestVersion, values: dict[str, Any], mine: dict[str, Any]) -> dict[str, Any]:
    request: ApprovalRequest = version.request
    at = request.decided_at
    return {
        "id": str(request.id),
        "subject": request.subject,
        "ref": request.ref,
        "at": at.isoformat() if at else None,
        "title": version.title,
        "status": request.status,
        "decision": request.decision,
        "by": (request.decided_by or {}).get("name", ""),
        "comment": request.comment[:500],
        "values": {name: text_of(value)[:200] for name, value in values.items()},
        "differs": sorted(name for name in mine.keys() | values.keys() if mine.get(name) != values.get(name)),
    }
