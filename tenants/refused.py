"""The audit of what was refused: a POST, PUT, PATCH or DELETE that ended in 403, 404 or 409."""

from uuid import UUID

from django.http import HttpRequest, HttpResponseBase

from tenants import audit
from tenants.actors import Actor
from tenants.refusals import Refusal
from tenants.scope import scope

SAFE = ("GET", "HEAD", "OPTIONS")
RECORDED = (403, 404, 409)


def record(request: HttpRequest, response: HttpResponseBase, *, tenant: UUID, actor: Actor, channel: str) -> None:
    """Enter the refusal in the tenant's audit, in a transaction of its own, unless its command did so."""
    refusal: Refusal | None = getattr(request, "refusal", None)
    if request.method in SAFE or response.status_code not in RECORDED or (refusal and refusal.recorded):
        return
    code = refusal.code if refusal else ""
    with scope(tenant):
        audit.record(
            "request.refused",
            actor=actor,
            target=(refusal and refusal.target) or f"path:{request.path}",
            detail={"method": request.method, "path": request.path, "status": response.status_code, "code": code},
            refused=True,
            channel=channel,
        )
