"""Reads an audit chain from its start and says up to which entry it proves what it says."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from tenants.audit import START, Entry, content_digest, written
from tenants.models import AuditContent, AuditEntry, AuditHead
from tenants.scope import current
from tenants.signing import is_signed

BATCH = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """`proved` is the last entry up to which all holds; `fault` says what is wrong after it, if anything is."""

    proved: int
    fault: str | None
    digest: str

    @property
    def holds(self) -> bool:
        """Whether the whole chain proves."""
        return self.fault is None


def verify() -> Verdict:
    """Check the chain of the tenant in scope: no gap, every digest, every content, signatures, the head."""
    seq, digest, signed, signed_digest = 0, START, 0, START
    while batch := list(AuditEntry.objects.filter(seq__gt=seq).order_by("seq")[:BATCH]):
        bodies = _bodies(batch)
        for row in batch:
            fault = _fault(row, after=seq, digest=digest, body=bodies.get(row.seq))
            if fault:
                return Verdict(proved=signed, fault=fault, digest=signed_digest)
            seq, digest = row.seq, row.digest
            if is_signed(str(row.tenant_id), row.seq, row.digest, row.signature):
                signed, signed_digest = seq, digest
    fault = _fault_of_head(seq, digest) or _unsigned(signed, seq)
    return Verdict(proved=signed, fault=fault, digest=signed_digest)


def _bodies(batch: list[AuditEntry]) -> dict[int, str | None]:
    rows = AuditContent.objects.filter(seq__gte=batch[0].seq, seq__lte=batch[-1].seq)
    return dict(rows.values_list("seq", "body"))


def _fault(row: AuditEntry, *, after: int, digest: str, body: str | None) -> str | None:
    if row.seq != after + 1:
        return _("Entry %(seq)d is missing.") % {"seq": after + 1}
    if row.previous != digest:
        return _("Entry %(seq)d does not follow the one before it.") % {"seq": row.seq}
    if _entry(row).digest() != row.digest:
        return _("Entry %(seq)d was changed after it was written.") % {"seq": row.seq}
    if body is not None and content_digest(body) != row.content_digest:
        return _("The content of entry %(seq)d was changed after it was written.") % {"seq": row.seq}
    return None


def _fault_of_head(seq: int, digest: str) -> str | None:
    head = AuditHead.objects.filter(pk=current()).first()
    if head is None:
        return None if seq == 0 else _("The chain has no head.")
    if head.seq > seq:
        return _("Entries after %(seq)d are missing: the head names %(head)d.") % {"seq": seq, "head": head.seq}
    if head.digest != digest:
        return _("The head does not name the last entry.")
    return None


def _unsigned(signed: int, seq: int) -> str | None:
    if signed == seq:
        return None
    return _("Entries after %(seq)d are not signed under this key.") % {"seq": signed}


def _entry(row: AuditEntry) -> Entry:
    return Entry(
        tenant=str(row.tenant_id),
        seq=row.seq,
        at=written(row.at),
        actor_kind=row.actor_kind,
        actor_id=row.actor_id,
        action=row.action,
        target=row.target,
        refused=row.refused,
        channel=row.channel,
        content_digest=row.content_digest,
        previous=row.previous,
    )
