"""What people do to a run; each is one transaction: lock, state, event, audit entry, then a hint to the workers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from runs.models import Run
from tenants.actors import Actor


@dataclass(frozen=True, slots=True)
class Start:
    """What a run is started with. `input` is JSON text as it came; `deadline` needs an offset."""

    agent: str
    input: str
    title: str = ""
    version: str = ""
    """Empty: the newest version that a live worker knows."""
    deadline: datetime | None = None
    on_behalf_of: UUID | None = None
    """A member; shut out from deciding like the starter."""
    labels: Mapping[str, str] = field(default_factory=dict)


def start(wanted: Start, *, actor: Actor, channel: str = "") -> Run:
    """Queue a run. Needs the tenant in scope() or opens none: call inside `scope(tenant)`.

    Refusal 404 agent_unknown (also: not switched on), 409 agent_stopped, 422 version_unknown, input_invalid,
    member_unknown, labels_invalid, deadline_passed.
    """
    raise NotImplementedError


def cancel(run_id: UUID, *, actor: Actor, comment: str = "", channel: str = "") -> Run:
    """Stop for good. What is in hand ends and is recorded; the event names it. Refusal 403, 404, 409 finished."""
    raise NotImplementedError


def pause(run_id: UUID, *, actor: Actor, comment: str = "", channel: str = "") -> Run:
    """Start nothing more until resumed. Refusal 403, 404, 409."""
    raise NotImplementedError


def resume(run_id: UUID, *, actor: Actor, budget: Mapping[str, Any] | None = None, channel: str = "") -> Run:
    """Queue a paused run, or one that needs attention for `permission`, `crash_loop`, or `budget` (with a budget)."""
    raise NotImplementedError


def retry(run_id: UUID, *, actor: Actor, channel: str = "") -> Run:
    """Queue a failed run again: exactly the steps that failed it are reopened; the person becomes an initiator."""
    raise NotImplementedError


def settle(
    run_id: UUID, step: int, *, outcome: str, result: str = "", note: str = "", actor: Actor, channel: str = ""
) -> Run:
    """Settle an unknown outcome: `completed`, `not_done`, `do_again` (409 once finished). Never by initiators."""
    raise NotImplementedError


def comment(run_id: UUID, *, text: str, actor: Actor, channel: str = "") -> Run:
    """Add a remark to the run's story, in any state."""
    raise NotImplementedError
