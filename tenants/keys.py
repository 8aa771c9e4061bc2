"""Keys for the API: the first part names the tenant, the second the key, the third proves it."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import CharField, OuterRef, Subquery
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from tenants import audit, ids, naming
from tenants.actors import Actor
from tenants.models import ApiKey, AuditEntry, Member
from tenants.refusals import invalid, not_found
from tenants.scope import current, scope

SCOPES = (
    "runs:read",
    "runs:start",
    "runs:operate",
    "approvals:read",
    "approvals:decide",
    "settings:read",
    "settings:write",
    "audit:read",
)
WIDER = _("A key makes no key with a scope it does not have itself.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Bearer:
    """Who a key speaks for. `member` is its owner, who must still be active; `scopes` bound what it may."""

    tenant: UUID
    key: UUID
    member: Member
    actor: Actor
    service: bool
    scopes: frozenset[str]


def create(
    owner: Member,
    *,
    actor: Actor,
    scopes: Sequence[str],
    name: str = "",
    service: bool = False,
    channel: str = "",
) -> tuple[ApiKey, str]:
    """A new key of this member, and its text, which is told once and kept nowhere.

    A service key acts for itself and can never decide. Raises Refusal for an unknown scope.
    """
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown:
        names = {"names": ", ".join(unknown)}
        raise invalid(_("There is no such scope: %(names)s.") % names, code="unknown_scope")
    if service and "approvals:decide" in scopes:
        raise invalid(_("A service key can never decide."), code="service_cannot_decide")
    secret = secrets.token_hex(24)
    key = ApiKey.objects.create(
        tenant_id=current(),
        owner=owner,
        name=naming.demand(name) or owner.name,
        service=service,
        scopes=[each for each in SCOPES if each in scopes],
        secret_hash=_hash(secret),
    )
    detail = {"name": key.name, "scopes": list(key.scopes), "service": service, "owner": str(owner.pk)}
    audit.record("key.created", actor=actor, target=f"key:{key.pk}", detail=detail, channel=channel)
    return key, f"vm_{ids.short(current())}_{ids.short(key.pk)}_{secret}"


def revoke(key_id: UUID, *, actor: Actor, channel: str = "") -> ApiKey:
    """End a key at once; raises Refusal 404. A key ended before stays as it is."""
    key = ApiKey.objects.select_for_update().filter(pk=key_id).first()
    if key is None:
        raise not_found(_("There is no such key."))
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])
        detail = {"name": key.name}
        audit.record("key.revoked", actor=actor, target=f"key:{key.pk}", detail=detail, channel=channel)
    return key


def verify(text: str) -> Bearer | None:
    """Who this key speaks for; None for every text that is no living key of an active member."""
    parts = text.split("_")
    if len(parts) != 4 or parts[0] != "vm":
        return None
    tenant, key_id = ids.unshort(parts[1]), ids.unshort(parts[2])
    if tenant is None or key_id is None:
        return None
    with scope(tenant, read_only=True):
        found = ApiKey.objects.select_related("owner__person").filter(pk=key_id, revoked_at=None).first()
    if found is None or not hmac.compare_digest(found.secret_hash, _hash(parts[3])):
        return None
    return _bearer(found) if found.owner.active and found.owner.person.is_active else None


def mark(key: UUID) -> str:
    """What tells a key from others of its name: the last letters of its text's third part, which is no secret."""
    return f"…{ids.short(key)[-6:]}"


def marked(text: str) -> list[UUID]:
    """The tenant's keys whose mark is this."""
    if not text.startswith("…"):
        return []
    return [key for key in ApiKey.objects.values_list("pk", flat=True) if mark(key) == text]


def last_acts(held: Sequence[ApiKey]) -> dict[UUID, datetime]:
    """When the audit last tells of each of these keys, refusals too; reading leaves no entry. One query.

    docs/decisions/0019 says why.
    """
    entries = AuditEntry.objects.filter(actor_id=Cast(OuterRef("pk"), CharField())).order_by("-seq").values("at")
    rows = ApiKey.objects.filter(pk__in=[key.pk for key in held]).annotate(last=Subquery(entries[:1]))
    return {key: last for key, last in rows.values_list("pk", "last") if last is not None}


def _bearer(key: ApiKey) -> Bearer:
    member = None if key.service else key.owner_id
    name = key.name if key.service else key.owner.name
    return Bearer(
        tenant=key.tenant_id,
        key=key.pk,
        member=key.owner,
        actor=Actor(kind="key", id=str(key.pk), name=name, member=member),
        service=key.service,
        scopes=frozenset(key.scopes),
    )


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
