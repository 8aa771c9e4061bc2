"""What a request adds to its subject's story, and the bell for those who watch."""

import time
from collections.abc import Mapping
from typing import Any

from approvals.models import ApprovalRequest
from tenants import events, live
from tenants.actors import Actor


def tell(
    request: ApprovalRequest, name: str, *, actor: Actor, message: str, data: Mapping[str, Any] | None = None
) -> None:
    """Add an event of this request to its subject and ring the request and the inbox; needs the lock."""
    what = facts(request, data)
    events.put(request.subject, name, actor=actor, message=message, data=what, then=lambda seq: ring(request, seq))


def tell_of_step(subject: str, step: int, name: str, *, actor: Actor, message: str, data: Mapping[str, Any]) -> None:
    """Add an event about a step of which nobody was asked; needs the subject's lock."""
    events.append(subject, name, actor=actor, message=message, data={"step": step, **data})


def facts(request: ApprovalRequest, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the data of each of its events says: which request, which step, and `data`."""
    step = {"step": int(request.ref)} if request.ref.isdecimal() else {}
    return {"request": str(request.id), **step, **(data or {})}


def ring(request: ApprovalRequest, seq: int) -> None:
    """Tell those who watch the request, its subject or the inbox of its event with this number."""
    live.ring_all(
        {request.subject: seq, f"request:{request.id}": seq, "inbox": _microseconds}, tenant=request.tenant_id
    )


def _microseconds() -> int:
    return time.time_ns() // 1000
