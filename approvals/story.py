"""What a request adds to its subject's story, and the bell for those who watch."""

import time
from collections.abc import Mapping
from typing import Any

from approvals.models import ApprovalRequest
from tenants import events, live
from tenants.actors import Actor


def tell(
    request: ApprovalRequest, name: str, *, actor: Actor, message: str, data: Mapping[str, Any] | None = None
) -> int:
    """Add an event of this request to its subject and ring the request and the inbox; needs the lock."""
    step = {"step": int(request.ref)} if request.ref.isdecimal() else {}
    written = {"request": str(request.id), **step, **(data or {})}
    seq = events.append(request.subject, name, actor=actor, message=message, data=written)
    live.ring(f"request:{request.id}", seq)
    live.ring("inbox", time.time_ns() // 1000)
    return seq
