"""A run's own page: read with a fixed number of queries, then told; the rights of the reader decide its verbs."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals.display import Shown, beginning, shown
from approvals.event_words import EVENT_WORDS
from approvals.pages.parts import CommentLine
from runs import access, askings, telling
from runs.models import Attempt, Run, Step
from runs.states import ATTENTION, FINISHED, PAUSED, TOOL_CALL
from runs.telling import Brief, Detail, Used
from runs.views.holdups import holdups
from runs.views.shapes import Ended, EventLine, RunView, Settled
from runs.views.steps import ENDED, Timeline, vanished, worked
from tenants import events, ids, wording
from tenants.events import EventRow
from tenants.models import Event, Member

Period = tuple[datetime, datetime | None]
LINES = 200
STEPS = 300
COMMENTS = 100
SAID = 1000
CUT = 4000
RESUMABLE = frozenset({"permission", "crash_loop", "budget"})


def story(run: Run, *, member: Member, base: str, told: int | None = None) -> RunView:
    """Everything the run's page shows to this member; `told` is the last event's number before it was read."""
    url = f"{base}runs/{run.id}/"
    newest = telling.steps_of(run.id, limit=CUT).order_by("-seq")[:STEPS]
    detail = telling.detail(run, list(reversed(newest)))
    brief = telling.brief([run], texts=True)
    last = events.last_seq(askings.subject(run.id)) if told is None else told
    rows = events.after(askings.subject(run.id), max(last - LINES, 0), LINES)
    progress = {int(row.data.get("step", 0)): row for row in rows if row.name == "step.progress"}
    said = _said(run)
    timeline = Timeline(detail, base=base, url=url, progress=progress, names=brief.names, settled=_settled(said))
    used = brief.used.get(run.id, Used())
    asked = {each.id: [brief.names[m] for m in each.asked if m in brief.names] for each in detail.asking.values()}
    return RunView(
        id=str(run.id),
        reference=ids.reference(run.id),
        url=url,
        title=title(run),
        agent=agent(run),
        model=model(detail),
        status=run.status,
        reason=run.reason,
        holdups=holdups(run, timeline, asked=asked),
        ended=ended(run, timeline, brief, rows),
        verbs=verbs(run, member),
        resume_budget=run.reason == "budget",
        started_at=run.created_at,
        started_by=started_by(run),
        finished_at=run.finished_at,
        labels={str(shown(str(name))): str(shown(str(value))) for name, value in run.labels.items()},
        deadline=run.deadline,
        tokens=used.tokens or None,
        tokens_of=_number(run.budget.get("tokens")),
        cost="" if used.cost is None else f"{used.cost.normalize():f}",
        **times(detail, unsettled(said, detail.steps)),
        steps=timeline.steps(),
        steps_total=used.steps,
        steps_hidden=used.steps - len(detail.steps),
        steps_done=used.steps_done,
        next_text=next_text(run, detail),
        events=[_line(row) for row in rows],
        events_url="",
        comments=_comments(said),
        may_comment=True,
        proof_url=f"{url}proof/",
        topics=askings.subject(run.id),
        seq=last,
    )


def title(run: Run) -> Shown:
    """The run's title, or what stands for it where nobody gave one."""
    return shown(run.title or _("Run of %(agent)s") % {"agent": run.agent})


def agent(run: Run) -> str:
    """The agent with its version."""
    return f"{run.agent} v{run.version}"


def model(detail: Detail) -> str:
    """The model's name for people; a scripted one says that it is."""
    return _("scripted model") if detail.model == "scripted" else detail.model


def started_by(run: Run) -> str:
    """Who started the run; empty where no person did."""
    return "" if run.started_by.get("kind") in ("command", "system") else str(run.started_by.get("name", ""))


def verbs(run: Run, member: Member) -> list[str]:
    """What applies to the run and this member may do."""
    found = []
    operates = access.may_operate(member, run)
    unfinished = run.status not in FINISHED
    if operates and (run.status == PAUSED or (run.status == ATTENTION and run.reason in RESUMABLE)):
        found.append("resume")
    if operates and run.status == "failed":
        found.append("retry")
    if operates and unfinished and run.status != PAUSED:
        found.append("pause")
    if unfinished and access.may_cancel(member, run):
        found.append("cancel")
    return found


def ended(run: Run, timeline: Timeline, brief: Brief, rows: Sequence[EventRow]) -> Ended | None:
    """How a finished run ended: its result or error, and for a stopped one what had already happened."""
    if run.status not in FINISHED:
        return None
    wide = brief.texts.get((run.id, "result"))
    last = next((row for row in reversed(rows) if row.name == f"run.{run.status}"), None)
    told = last.message if last and run.status == "failed" else ""
    text = wide.body if wide and wide.body else told
    stopped = [step for step in timeline.detail.steps if step.kind == TOOL_CALL and step.effect != "read"]
    hands = set(last.data.get("in_hand") or []) if last else set()
    return Ended(
        at=run.finished_at or run.updated_at,
        by=wording.actor(last.actor) if last and run.status == "cancelled" else "",
        text=beginning(text, CUT) if text else None,
        in_hand=[shown(timeline.sentence(step)) for step in stopped if step.seq in hands],
        done=[shown(timeline.sentence(step)) for step in stopped if step.status == "completed"],
    )


def times(detail: Detail, unknown: Sequence[Period]) -> dict[str, Any]:
    """Where the time went: seconds of model and tools, and of waiting for people, overlaps counted once: for answers
    to questions, and for a word of what came of a call, while `unknown`; beside them what a vanished worker held."""
    now = timezone.now()
    asked = [(each.opened_at, each.decided_at) for each in detail.asking.values()]
    model_steps = [each for each in detail.steps if each.kind != TOOL_CALL]
    tool_steps = [each for each in detail.steps if each.kind == TOOL_CALL]
    waiting = [each.opened_at for each in detail.asking.values() if each.status == "pending"]
    waiting += [start for start, end in unknown if end is None]
    return {
        "model_turns": len(model_steps),
        "model_seconds": sum(worked(detail.attempts.get(each.seq, ())) or 0.0 for each in model_steps),
        "tool_calls": sum(1 for each in tool_steps if _was_called(detail.attempts.get(each.seq, ()))),
        "tool_seconds": sum(worked(detail.attempts.get(each.seq, ())) or 0.0 for each in tool_steps),
        "people_seconds": waited([*asked, *unknown], now=now),
        "vanished_seconds": waited(chain.from_iterable(map(vanished, detail.attempts.values())), now=now),
        "outcome_seconds": waited((each for each in unknown if each[1] is not None), now=now),
        "outcome_open_seconds": waited((each for each in unknown if each[1] is None), now=now),
        "people_since": min(waiting, default=None),
    }


def _was_called(attempts: Sequence[Attempt]) -> bool:
    """Whether the call left at least once; what was planned, declined or only read for a reviewer did not."""
    return any(each.kind == "call" for each in attempts)


def unsettled(said: Sequence[Event], steps: Iterable[Step]) -> list[Period]:
    """From when to when the outcome of a call was unknown; the end is None where it still is."""
    begun: dict[int, datetime] = {}
    found: list[Period] = []
    for row in said:
        step = int(row.data.get("step", 0))
        if row.name == "step.unknown":
            begun[step] = row.at
        elif row.name == "step.settled" and step in begun:
            found.append((begun.pop(step), row.at))
    return found + [(each.unknown_since, None) for each in steps if each.unknown_since is not None]


def waited(periods: Iterable[Period], *, now: datetime) -> float:
    """Seconds in which at least one of them was open."""
    total, until = 0.0, None
    for start, end in sorted((start, end or now) for start, end in periods):
        begin = start if until is None else max(start, until)
        total += max((end - begin).total_seconds(), 0.0)
        until = end if until is None else max(until, end)
    return total


def next_text(run: Run, detail: Detail) -> str:
    """What happens once nothing holds the run up any more."""
    last = max((each.turn for each in detail.steps if each.kind == TOOL_CALL and each.status not in ENDED), default=0)
    calls = sum(1 for each in detail.steps if each.kind == TOOL_CALL and each.turn == last)
    if run.status in FINISHED or not last:
        return ""
    told = ngettext(
        "Afterwards the model is asked again with the result.",
        "Afterwards the model is asked again with the results of all %(n)s calls.",
        calls,
    )
    return told % {"n": calls}


def _said(run: Run) -> list[Event]:
    """What people said beside the run and stated of its calls, the oldest first; one query."""
    names = ("run.commented", "step.settled", "step.unknown")
    rows = Event.objects.filter(subject=askings.subject(run.id), name__in=names).order_by("-seq")[:SAID]
    return list(reversed(rows))


def _comments(said: Sequence[Event]) -> list[CommentLine]:
    rows = [row for row in said if row.name == "run.commented"][-COMMENTS:]
    return [CommentLine.of(row.actor, row.at, row.message) for row in rows]


def _settled(said: Sequence[Event]) -> dict[int, Settled]:
    """The last that a person stated of each call whose answer never came."""
    rows = [row for row in said if row.name == "step.settled"]
    return {
        int(row.data["step"]): Settled(
            outcome=str(row.data.get("outcome", "")),
            by=wording.actor(row.actor),
            at=row.at,
            note=beginning(row.message, CUT) if row.message else None,
        )
        for row in rows
    }


def _line(row: EventRow) -> EventLine:
    name = wording.actor(row.actor) if row.actor.get("kind") != "system" else ""
    words = str(EVENT_WORDS.get(row.name, ""))
    step, text = _number(row.data.get("step")), beginning(row.message)
    return EventLine(seq=row.seq, at=row.at, name=row.name, words=words, step=step, actor=name, text=text)


def _number(value: object) -> int | None:
    return int(str(value)) if value is not None and str(value).isdigit() else None
