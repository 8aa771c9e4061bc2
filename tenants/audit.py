"""The audit chain: who did what to what, when, each entry sealed onto the one before."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from tenants import exact_json, prepared
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
        return exact_json.digest(self.fields())

    def fields(self) -> dict[str, Any]:
        """The values by their names, in order."""
        return {name: getattr(self, name) for name in self.__slots__}


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
    member = {"member": str(actor.member)} if actor.member else {}
    salt = secrets.token_urlsafe(16)
    return exact_json.dumps({"salt": salt, "actor": actor.name, **member, "detail": detail})


def _head() -> tuple[int, str]:
    found = prepared.every(_HEAD, [str(current())])
    if not found:
        head = AuditHead(tenant_id=current(), seq=0, digest=START, signature="")
        AuditHead.objects.bulk_create([head], ignore_conflicts=True)
        found = prepared.every(_HEAD, [str(current())])
    seq, digest = found[0]
    return seq, digest


_HEAD = "SELECT seq, digest FROM tenants_audithead WHERE tenant_id = $1::uuid FOR UPDATE"
_INSERT = """
WITH entry AS (
  INSERT INTO tenants_auditentry (tenant_id, seq, at, actor_kind, actor_id, action, target, refused, channel,
    content_digest, previous, digest, signature)
  VALUES ($1::uuid, $2::bigint, $3::timestamptz, $4::text, $5::text, $6::text, subject_bytes($7::text),
    $8::boolean, $9::text,
    decode($10::text, 'hex'), decode($11::text, 'hex'), decode($12::text, 'hex'), decode($13::text, 'base64'))
), content AS (
  INSERT INTO tenants_auditcontent (tenant_id, seq, body) VALUES ($1::uuid, $2::bigint, $14::text)
)
UPDATE tenants_audithead SET seq = $2::bigint, digest = $12::text, signature = $13::text WHERE tenant_id = $1::uuid
RETURNING seq
"""


def _insert(entry: Entry, body: str) -> None:
    digest = entry.digest()
    signature = sign(entry.tenant, entry.seq, digest)
    prepared.later(_INSERT, [str(value) for value in (*entry.fields().values(), digest, signature, body)])
