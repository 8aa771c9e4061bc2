"""What a running call is handed: its key, and the doors for progress, large contents and credentials."""

from functools import cache
from typing import Any
from uuid import UUID

from runs import payloads
from runs.calls import Box, Told
from runs.entries import StepRow
from runs.errors import PermissionRefused
from runs.failures import MESSAGE_LIMIT, storable
from runs.segment import Segment
from runs.tools import Content, ToolContext
from tenants import credentials, exact_json
from tenants.scope import scope

LARGEST = 2**53


def key_of(segment: Segment, step: StepRow, digest: str) -> str:
    """The idempotency key: the same at every try of this call, another for every other one.

    Derived from run, step, tool, canonical arguments and generation; never from chance or a clock.
    """
    # The list of the five as exact_json.canonical writes it; an id and a digest need no escape.
    return exact_json.digest_of_canonical(
        f'["{segment.run_id}",{step.seq},{_quoted(step.tool)},"{digest}",{step.generation}]'
    )


@cache
def _quoted(tool: str) -> str:
    return exact_json.canonical(tool)


def context_of(segment: Segment, step: StepRow, box: Box) -> ToolContext:
    """The context of the attempt that is open on this step."""
    attempt = step.attempts[-1]
    return ToolContext(
        tenant=segment.tenant,
        run_id=segment.run,
        step=step.seq,
        attempt=1 if attempt.number == 1 else sum(each.kind == attempt.kind for each in step.attempts),
        idempotency_key=attempt.key,
        _progress=lambda message, done, total: box.put(Told(_said(message), _count(done), _count(total))),
        _store=lambda content, media_type: _store(segment, box, content, media_type),
        _secret=lambda name: _secret(segment.tenant, name),
    )


def _said(message: Any) -> str:
    return storable(message)[:MESSAGE_LIMIT]


def _count(number: Any) -> int | None:
    return int(number) if isinstance(number, int) and abs(number) <= LARGEST else None


def _store(segment: Segment, box: Box, content: Content, media_type: str) -> str:
    if box.closed:
        raise PermissionRefused("This call was given up; nothing it brings is kept any more.")
    return str(payloads.keep(content, tenant=segment.tenant, run=segment.run, media_type=media_type))


def _secret(tenant: UUID, name: str) -> str:
    with scope(tenant, read_only=True):
        value = credentials.get(name)
    if value is None:
        raise PermissionRefused(f"The credential {name} is not set for this organisation; an admin can set it.")
    return value
