"""The audit as it is read: filtered, newest first on a page, oldest first in an export."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from tenants import exact_json
from tenants.models import AuditContent, AuditEntry
from tenants.scope import scope

BATCH = 500
COLUMNS = ["seq", "at", "actor", "action", "target", "refused", "channel", "detail"]
COLUMNS += ["content_digest", "previous", "digest", "signature"]


def entries(**filters: Any) -> "QuerySet[AuditEntry]":
    """The entries of the tenant in scope. Filters: `action`, `target`, `actor_id`, `refused`, `since`, `until`."""
    names = {"since": "at__gte", "until": "at__lt"}
    wanted = {names.get(name, name): value for name, value in filters.items() if value is not None}
    return AuditEntry.objects.filter(**wanted)


def shown(rows: Iterable[AuditEntry]) -> list[dict[str, Any]]:
    """The entries with their content beside them; `detail` is None where it was blanked."""
    found = list(rows)
    contents = AuditContent.objects.filter(seq__in=[row.seq for row in found])
    bodies = dict(contents.values_list("seq", "body"))
    return [_shown(row, bodies.get(row.seq)) for row in found]


def all_entries(
    tenant: UUID, *, narrow: "Callable[[], QuerySet[AuditEntry]] | None" = None, **filters: Any
) -> Iterator[dict[str, Any]]:
    """Every entry, oldest first, read in batches of a short scope each; none is open between two.

    `narrow` gives the rows in the place of `filters`; it is called in each scope.
    """
    seq = 0
    while True:
        with scope(tenant, read_only=True):
            rows = narrow() if narrow else entries(**filters)
            batch = shown(rows.filter(seq__gt=seq).order_by("seq")[:BATCH])
        if not batch:
            return
        yield from batch
        seq = batch[-1]["seq"]


def _shown(row: AuditEntry, body: str | None) -> dict[str, Any]:
    content = exact_json.loads(body) if body else {}
    member = content.get("member")
    return {
        "seq": row.seq,
        "at": row.at,
        "actor": {
            "kind": row.actor_kind,
            "id": row.actor_id,
            "name": content.get("actor", ""),
            "member": member,
        },
        "action": row.action,
        "target": row.target,
        "refused": row.refused,
        "channel": row.channel,
        "detail": content.get("detail"),
        "content": body,
        "content_digest": row.content_digest,
        "previous": row.previous,
        "digest": row.digest,
        "signature": row.signature,
    }
