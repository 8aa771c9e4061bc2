"""A POST that is sent again under its Idempotency-Key gets its first answer, and is done once.

The row that claims a key is inserted in the transaction that does the work, so a crash leaves nothing.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from psycopg.errors import LockNotAvailable

from tenants import exact_json, ids
from tenants.actors import Actor
from tenants.exact_json import BadJson
from tenants.models import IdempotentAnswer
from tenants.refusals import Refusal, invalid
from tenants.scope import current
from tenants.secrets import conceal, reveal

KEPT_FOR = timedelta(hours=24)
PATIENCE = "2s"
MAX_KEY = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """What makes two requests the same: tenant (the scope's), actor, method, full path, key and body."""

    actor: Actor
    method: str
    path: str
    key: str
    body_digest: str

    def names(self) -> dict[str, str]:
        """The columns that name the claim."""
        path = self.path if len(self.path) <= 500 else f"sha256:{_sha256(self.path.encode())}"
        return {
            "actor": f"{self.actor.kind}:{self.actor.id}",
            "method": self.method,
            "path": path,
            "key": self.key,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it is kept. `replayed` says that it is the first one's."""

    status: int
    body: str
    replayed: bool = False


def demand_key(key: str) -> str:
    """The key, if it is one; raises Refusal 400 for an empty, long or unprintable one."""
    if not 0 < len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        detail = _("An Idempotency-Key is 1 to 255 printable ASCII characters.")
        raise Refusal("bad_idempotency_key", detail=detail, status=400)
    return key


def digest(body: bytes) -> str:
    """The digest by which two bodies are the same: by JSON value, where it is JSON, else by bytes."""
    try:
        return exact_json.digest(exact_json.loads(body))
    except BadJson:
        return _sha256(body)


def digest_of(value: Any) -> str:
    """The digest of a value that was JSON."""
    return exact_json.digest(value)


def once(claim: Claim, work: Callable[[], Answer]) -> Answer:
    """Do the work and keep its answer if it is a 2xx, or give the answer that is kept.

    Inside a scope whose transaction the work shares; a 5xx undoes it. Raises Refusal: 422 where the key
    came with another body, 409 where its first request is still running after two seconds.
    """
    row = _claimed(claim)
    if row is None:
        return _standing(claim, work)
    answer = work()
    if answer.status >= 500:
        transaction.set_rollback(True)
    elif 200 <= answer.status < 300:
        IdempotentAnswer.objects.filter(pk=row).update(status=answer.status, body=conceal(answer.body))
    else:
        IdempotentAnswer.objects.filter(pk=row).delete()
    return answer


def _claimed(claim: Claim) -> UUID | None:
    new = IdempotentAnswer(id=ids.new(), tenant_id=current(), body_digest=claim.body_digest, **claim.names())
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('lock_timeout'), set_config('lock_timeout', %s, true)", [PATIENCE])
            before = cursor.fetchone()[0]
            # Waits here while another transaction holds the same claim.
            IdempotentAnswer.objects.bulk_create([new], ignore_conflicts=True)
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [before])
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            raise _in_progress() from None
        raise
    return new.pk if IdempotentAnswer.objects.filter(pk=new.pk).exists() else None


def _standing(claim: Claim, work: Callable[[], Answer]) -> Answer:
    found = IdempotentAnswer.objects.filter(**claim.names()).first()
    if found is None or found.created_at < timezone.now() - KEPT_FOR:
        IdempotentAnswer.objects.filter(**claim.names(), created_at__lt=timezone.now() - KEPT_FOR).delete()
        return once(claim, work)
    if found.body_digest != claim.body_digest:
        detail = _("This Idempotency-Key came before with another body. Use a new key for a new request.")
        raise invalid(detail, code="idempotency_key_reused")
    if found.status is None:
        raise _in_progress()
    return Answer(found.status, reveal(found.body), replayed=True)


def _in_progress() -> Refusal:
    detail = _("The first request with this Idempotency-Key is still running. Send it again in a moment.")
    return Refusal("idempotency_in_progress", detail=detail)


def _sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
