"""What holds a run up and who can move it on, worst first; pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals.display import beginning, shown
from runs.askings import Asking
from runs.models import Attempt, Run, Step
from runs.states import AGENT_STOPPED, ATTENTION, FINISHED, PAUSED, QUEUED, SLEEPING
from runs.views.shapes import HoldUp
from runs.views.steps import Timeline

REASONS = ("version", "permission", "budget", "crash_loop")
CAUSES = {
    "rate_limited": gettext_lazy("The service asked to wait."),
    "timeout": gettext_lazy("The last try got no answer in time."),
    "server": gettext_lazy("The service failed at the last try."),
    "connection": gettext_lazy("The connection broke at the last try."),
}


def holdups(run: Run, timeline: Timeline, *, asked: Mapping[UUID, Sequence[str]]) -> list[HoldUp]:
    """Everything that keeps an unfinished run from going on."""
    if run.status in FINISHED:
        return []
    found = [*_unknown(timeline), *_attention(run, timeline), *_approvals(timeline, asked)]
    if run.status == QUEUED and not timeline.detail.known:
        found.append(HoldUp(kind="version"))
    elif run.status == QUEUED and timeline.detail.unheard:
        found.append(HoldUp(kind="silent", since=timeline.detail.unheard))
    if run.status == SLEEPING or (run.status in (PAUSED, ATTENTION) and not found):
        found += list(_sleeping(timeline))
    if run.status == PAUSED:
        because = _("The agent was stopped; the run goes on once it is started again.")
        stopped = because if run.reason == AGENT_STOPPED else ""
        found.insert(0, HoldUp(kind="paused", since=run.updated_at, because=stopped))
    return found


def _unknown(timeline: Timeline) -> Iterable[HoldUp]:
    for step in timeline.detail.steps:
        if step.status == "unknown":
            url = f"{timeline.base}outcomes/?step={step.run_id}-{step.seq}"
            yield HoldUp(kind="unknown", step=step.seq, title=timeline.title(step), url=url, since=step.unknown_since)


def _attention(run: Run, timeline: Timeline) -> Iterable[HoldUp]:
    if run.status != ATTENTION or run.reason not in REASONS:
        return
    step = next((each for each in reversed(timeline.detail.steps) if each.status in ("started", "planned")), None)
    last = _last_message(timeline.detail.attempts.get(step.seq, ())) if step else ""
    yield HoldUp(
        kind=run.reason,
        step=step.seq if step else None,
        since=run.updated_at,
        detail=beginning(last) if last else None,
    )


def _approvals(timeline: Timeline, asked: Mapping[UUID, Sequence[str]]) -> Iterable[HoldUp]:
    for asking in sorted(timeline.detail.asking.values(), key=lambda each: each.step):
        if asking.status == "pending":
            yield _approval(asking, timeline.base, nobody=not asked.get(asking.id))


def _approval(asking: Asking, base: str, *, nobody: bool) -> HoldUp:
    return HoldUp(
        kind="approval",
        step=asking.step,
        title=shown(asking.title),
        url=f"{base}requests/{asking.id}/",
        since=asking.opened_at,
        given=len(asking.approvers),
        needed=asking.needed,
        next_at=asking.next_at,
        next_to=_("More people"),
        expires_at=asking.deadline,
        because=_("Nobody is asked at present; an admin can change that.") if nobody else "",
    )


def _sleeping(timeline: Timeline) -> Iterable[HoldUp]:
    due = [each for each in timeline.detail.steps if each.due_at and each.status in ("started", "planned", "unknown")]
    for step in sorted(due, key=_due)[:1]:
        attempts = timeline.detail.attempts.get(step.seq, ())
        cause = attempts[-1].cause if attempts else ""
        yield HoldUp(
            kind="sleeping",
            step=step.seq,
            title=timeline.title(step),
            next_at=step.due_at,
            because=str(CAUSES.get(cause, "")),
            detail=beginning(_last_message(attempts)) if _last_message(attempts) else None,
        )


def _due(step: Step) -> datetime:
    if step.due_at is None:
        raise ValueError("Only steps that are due have a time.")
    return step.due_at


def _last_message(attempts: Sequence[Attempt]) -> str:
    return next((each.message for each in reversed(attempts) if each.message), "")
