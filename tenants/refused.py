"""The audit of what was refused: a POST, PUT, PATCH or DELETE that ended in 403, 404 or 409."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase

from tenants import audit, ids
from tenants.actors import Actor
from tenants.refusals import Refusal
from tenants.scope import scope

SAFE = ("GET", "HEAD", "OPTIONS")
RECORDED = (403, 404, 409)
NAMED = {
    "run_id": "run",
    "place": "run",
    "request_id": "request",
    "rule_id": "policy",
    "policy_id": "escalation_policy",
    "calendar_id": "calendar",
    "rotation_id": "rotation",
    "channel_id": "channel",
    "webhook_id": "channel",
    "group_id": "group",
    "key_id": "key",
    "member_id": "member",
}
"""What the parts of an address name, as the audit's targets write it; the first that is there counts."""


def record(request: HttpRequest, response: HttpResponseBase, *, tenant: UUID, actor: Actor, channel: str) -> None:
    """Enter the refusal in the tenant's audit, in a transaction of its own, unless its command did so."""
    refusal: Refusal | None = getattr(request, "refusal", None)
    if request.method in SAFE or response.status_code not in RECORDED or (refusal and refusal.recorded):
        return
    code = refusal.code if refusal else ""
    match = request.resolver_match
    with scope(tenant):
        audit.record(
            "request.refused",
            actor=actor,
            target=(refusal and refusal.target) or about(match.kwargs if match else {}) or f"path:{request.path}",
            detail={"method": request.method, "path": request.path, "status": response.status_code, "code": code},
            refused=True,
            channel=channel,
        )


def about(names: Mapping[str, Any]) -> str:
    """What an address is about by its parts, as `kind:id`; empty where none of them names something by its id."""
    for name, kind in NAMED.items():
        if found := ids.parse(str(names.get(name, ""))[:36]):
            return f"{kind}:{found}"
    return ""
