"""The audit chain: who did what to what, when, each entry sealed onto the one before."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import DatabaseError, connection
from psycopg.errors import SerializationFailure

from tenants import exact_json, prepared
from tenants.actors import Actor
from tenants.audit_names import Action
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


Head = tuple[int, str]
"""The last entry of a tenant's chain: its number and its digest."""


def record(
    action: Action,
    *,
    actor: Actor,
    target: str,
    detail: Mapping[str, Any] | None = None,
    refused: bool = False,
    channel: str = "",
    after: Head | None = None,
) -> None:
    """Append an entry in the transaction in hand. Call it last: it locks the tenant's head until commit.

    `action` is a stable name such as `run.cancelled`; `target` is `kind:id`; `detail` is any JSON object
    and counts as personal; `channel` is `page`, `api`, `link`, `callback` or `command`. `after` is the head as it was
    read without its lock, which saves a round trip: where another entry has followed it meanwhile, the transaction
    fails with what `has_gone_on` knows, and is to be made anew without it.
    """
    body = _body(actor, detail or {})
    seq, previous = after or _head()
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


def has_gone_on(error: DatabaseError) -> bool:
    """Whether a transaction failed because the chain has gone on after the head that it was to follow."""
    return isinstance(error.__cause__, SerializationFailure)


def last() -> prepared.Question:
    """The head of the tenant in scope, if there is one, for `prepared.several`; it is not locked."""
    return _LAST, [str(current())]


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


_LAST = "SELECT seq, digest FROM tenants_audithead WHERE tenant_id = $1::uuid"
_HEAD = f"{_LAST} FOR UPDATE"
_APPEND = prepared.expression(
    "audit_append", "uuid bigint timestamptz text text text text boolean text text text text text text"
)


def _insert(entry: Entry, body: str) -> None:
    digest = entry.digest()
    signature = sign(entry.tenant, entry.seq, digest)
    prepared.later(_APPEND, [str(value) for value in (*entry.fields().values(), digest, signature, body)])
