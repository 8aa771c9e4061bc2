"""The part of the audit that concerns some targets, with the chain that leads from it to the signed head."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from tenants import audit_log
from tenants.audit import written
from tenants.models import AuditEntry, AuditHead
from tenants.scope import scope

LINKS = 5000
"""How many entries between the first and the last one the part may hold, so that the chain has no gap."""


def part(tenant: UUID, targets: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The entries about `targets`, oldest first, then the head as it was when the reading began.

    The entries between lie there too, without their content, up to the head where they are no more than LINKS, else
    up to the last one about `targets`, else not at all. An entry whose target holds the id of one of `targets`,
    such as a refused call of its address, is about it.
    """
    with scope(tenant, read_only=True):
        head = AuditHead.objects.filter(pk=tenant).first()
        own = AuditEntry.objects.filter(target__in=targets).order_by("seq")
        first, last = own.first(), own.last()
    if head is None or first is None or last is None:
        return
    upto = next((end for end in (head.seq, last.seq) if end - first.seq < LINKS), None)
    yield from _entries(tenant, targets, first.seq, upto)
    yield {"kind": "head", "seq": head.seq, "digest": head.digest, "signature": head.signature}


def _entries(tenant: UUID, targets: Sequence[str], first: int, upto: int | None) -> Iterator[dict[str, Any]]:
    keys = [target.partition(":")[2] for target in targets]
    seq = first - 1
    while True:
        with scope(tenant, read_only=True):
            rows = _range(targets, upto).filter(seq__gt=seq).order_by("seq")
            batch = list(rows[: audit_log.BATCH])
            mine = [row for row in batch if any(key in row.target for key in keys)]
            contents = {told["seq"]: told["content"] for told in audit_log.shown(mine)}
        if not batch:
            return
        for row in batch:
            yield _entry(row) | ({"content": contents[row.seq]} if row.seq in contents else {})
        seq = batch[-1].seq


def _range(targets: Sequence[str], upto: int | None) -> "QuerySet[AuditEntry]":
    every = AuditEntry.objects.all()
    return every.filter(target__in=targets) if upto is None else every.filter(seq__lte=upto)


def _entry(row: AuditEntry) -> dict[str, Any]:
    """The fields that the entry's digest covers, the digest and its signature."""
    return {
        "kind": "entry",
        "tenant": str(row.tenant_id),
        "seq": row.seq,
        "at": written(row.at),
        "actor_kind": row.actor_kind,
        "actor_id": row.actor_id,
        "action": row.action,
        "target": row.target,
        "refused": row.refused,
        "channel": row.channel,
        "content_digest": row.content_digest,
        "previous": row.previous,
        "digest": row.digest,
        "signature": row.signature,
    }
