"""The audit chain: who did what to what, when, each entry sealed onto the one before."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from tenants import exact_json
from tenants.actors import Actor
from tenants.models import AuditHead
from tenants.scope import current
from tenants.signing import sign

START = "0" * 64  # What the first entry of a chain has before it.


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """What an entry's digest covers. `content_digest` stands for the personal part, which lies beside it."""

    tenant: str
    seq: int
    at: str
    actor_kind: str
    actor_id: str
    action: str
    target: str
    refused: bool
    channel: str
    content_digest: str
    previous: str

    def digest(self) -> str:
        """The digest that the next entry chains."""
        return exact_json.digest(asdict(self))


def record(
    action: str,
    *,
    actor: Actor,
    target: str,
    detail: Mapping[str, Any] | None = None,
    refused: bool = False,
    channel: str = "",
) -> None:
    """Append an entry in the transaction in hand. Call it last: it locks the tenant's head until commit.

    `action` is a stable name such as `run.cancelled`; `target` is `kind:id`; `detail` is any JSON object
    and counts as personal; `channel` is `page`, `api`, `link`, `callback` or `command`.
    """
    body = _body(actor, detail or {})
    seq, previous = _head()
    entry = Entry(
        tenant=str(current()),
        seq=seq + 1,
        at=written(datetime.now(UTC)),
        actor_kind=actor.kind,
        actor_id=actor.id[:200],
        action=action,
        target=target[:200],
        refused=refused,
        channel=channel,
        content_digest=content_digest(body),
        previous=previous,
    )
    _insert(entry, body)


def written(at: datetime) -> str:
    """The time as an entry's digest covers it: UTC, with microseconds."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def content_digest(body: str) -> str:
    """The digest of an entry's personal part. The salt in it keeps a short content from being guessed."""
    return hashlib.sha256(body.encode()).hexdigest()


def blank(before: datetime) -> int:
    """Empty the personal part of the tenant's entries older than `before`; how many there were."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_blank(%s::uuid, %s)", (str(current()), before))
        return int(cursor.fetchone()[0])


def _body(actor: Actor, detail: Mapping[str, Any]) -> str:
    member = str(actor.member) if actor.member else None
    salt = secrets.token_hex(16)
    return exact_json.dumps({"salt": salt, "actor": actor.name, "member": member, "detail": detail})


def _head() -> tuple[int, str]:
    heads = AuditHead.objects.select_for_update().filter(pk=current()).values_list("seq", "digest")
    found = heads.first()
    if found is None:
        head = AuditHead(tenant_id=current(), seq=0, digest=START, signature="")
        AuditHead.objects.bulk_create([head], ignore_conflicts=True)
        found = heads.get()
    return found


_INSERT = """
WITH entry AS (
  INSERT INTO tenants_auditentry (tenant_id, seq, at, actor_kind, actor_id, action, target, refused, channel,
    content_digest, previous, digest, signature)
  VALUES (%(tenant)s, %(seq)s, %(at)s, %(actor_kind)s, %(actor_id)s, %(action)s, %(target)s, %(refused)s,
    %(channel)s, %(content_digest)s, %(previous)s, %(digest)s, %(signature)s)
), content AS (
  INSERT INTO tenants_auditcontent (tenant_id, seq, body) VALUES (%(tenant)s, %(seq)s, %(body)s)
)
UPDATE tenants_audithead SET seq = %(seq)s, digest = %(digest)s, signature = %(signature)s
WHERE tenant_id = %(tenant)s
"""


def _insert(entry: Entry, body: str) -> None:
    digest = entry.digest()
    signature = sign(entry.tenant, entry.seq, digest)
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, {**asdict(entry), "digest": digest, "signature": signature, "body": body})
