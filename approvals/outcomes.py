"""What became of approved calls, read from the story of their subjects; nothing here knows what a run is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from tenants import wording
from tenants.models import Event

_STATES = {
    "step.started": "running",
    "step.retrying": "running",
    "step.completed": "completed",
    "step.failed": "failed",
    "step.unknown": "unknown",
    "step.settled": "completed",
    "step.declined": "refused",
}


@dataclass(frozen=True)
class Outcome:
    """waiting, running, completed, failed, unknown, refused, not_done or cancelled; with the event's own words.

    `by` is who settled it, where a person said what came of it and no tool did.
    """

    state: str
    at: datetime | None = None
    text: str = ""
    by: str = ""


WAITING = Outcome("waiting")


@dataclass(frozen=True)
class Kept:
    """What keeps an approved call from running: `version` (no running worker knows it), `silent` (none that does has
    been heard of since `since`), `paused` or `attention`."""

    why: str
    agent: str
    since: datetime | None = None


KEPT_BY: list[Callable[[str], Kept | None]] = []
"""What keeps the approved calls of a subject, asked only while one waits to run; a floor above registers."""


def kept(subject: str) -> Kept | None:
    """What keeps the subject's approved calls from running, None where nothing does."""
    return next((found for told in KEPT_BY if (found := told(subject))), None)


def of(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Outcome]:
    """(subject, ref) → the last that was told of that step; one query, nothing for a step nothing was told of."""
    wanted = {(subject, ref) for subject, ref in pairs if ref.isdecimal()}
    if not wanted:
        return {}
    about = Q()
    for subject, ref in wanted:
        about |= Q(subject=subject, data__step=int(ref))
    found: dict[tuple[str, str], Outcome] = {}
    for event in Event.objects.filter(about, name__in=_STATES).order_by("subject", "seq"):
        found[event.subject, str(event.data.get("step"))] = _outcome(event)
    return found


def _outcome(event: Any) -> Outcome:
    state, by = _STATES[event.name], ""
    if event.name == "step.settled":
        state, by = str(event.data.get("outcome", state)), wording.actor(event.actor)
    if event.name == "step.declined" and event.data.get("reason") == "cancelled":
        state = "cancelled"
    return Outcome("running" if state == "do_again" else state, event.at, event.message, by)
