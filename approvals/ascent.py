"""What is due of a pending request: which levels are taken, who may answer then, whom to tell. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from approvals import escalations
from approvals.escalations import Rung
from approvals.models import ApprovalRequest
from approvals.notifications import outbox
from approvals.reviewers import Asking, Verdict, able, short_of
from approvals.rosters import Roster
from tenants.actors import SYSTEM, Actor

Able = Callable[[Roster, Asking], dict[UUID, Verdict]]
EVENT = "approval.escalated"


@dataclass(frozen=True)
class Fact:
    """What an event of this name says."""

    message: str
    data: Mapping[str, Any]
    actor: Actor = SYSTEM


@dataclass(frozen=True)
class Ascent:
    """How far the request travels, when to look again, who may answer then, and what is told.

    `again` are the steps at which those who are asked already are asked once more; `nobody` says that the admins are
    told, `closing` that the time is nearly over.
    """

    rung: int
    level: int
    short: int
    next_at: datetime
    due_at: datetime
    stamp: int
    may: Mapping[UUID, Verdict]
    facts: Sequence[Fact] = ()
    again: Sequence[int] = ()
    nobody: bool = False
    closing: bool = False


@dataclass
class _Steps:
    """The steps that are taken, one after the other."""

    rung: int
    ask: Asking
    facts: list[Fact] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    unseen: bool = False


def ascent(
    request: ApprovalRequest,
    people: Roster,
    ask: Asking,
    *,
    unseen: Callable[[], bool],
    by_hand: Actor | None = None,
    able: Able = able,
) -> Ascent:
    """Take the steps that are due; a level that too few can answer is passed at once, and the event says so.

    `unseen` is asked once the time is over in which somebody must have been reached: whether nobody was. `by_hand`
    takes one step more.
    """
    rungs = escalations.schedule(ask.escalation, opened_at=request.opened_at)
    steps = _Steps(request.rung, ask)
    while steps.rung < len(rungs):
        rung = rungs[steps.rung]
        because = _because(request, rung, people, steps, by_hand=by_hand, unseen=unseen, able=able)
        if not because:
            break
        _take(steps, rung, because, actor=by_hand or SYSTEM)
        by_hand = None
    may = able(people, steps.ask)
    short = short_of(people, steps.ask, may)
    lacking = bool(short and not request.short)
    if lacking:
        steps.facts.append(_short(short, level=steps.ask.level))
    next_at = min([request.deadline, *[rung.at for rung in rungs[steps.rung : steps.rung + 1]]])
    return Ascent(
        rung=steps.rung,
        level=steps.ask.level,
        short=short,
        next_at=next_at,
        due_at=_due_at(request, people, steps, next_at, wakes=bool(rungs)),
        stamp=people.stamp,
        may=may,
        facts=steps.facts,
        again=steps.again,
        nobody=lacking or steps.unseen,
        closing=outbox.closing_at(request) <= people.now < request.deadline,
    )


def unseen_at(request: ApprovalRequest) -> datetime:
    """Until when somebody who is asked must have been reached or have looked."""
    return request.opened_at + timedelta(seconds=settings.UNSEEN_SECONDS)


def _because(
    request: ApprovalRequest,
    rung: Rung,
    people: Roster,
    steps: _Steps,
    *,
    by_hand: Actor | None,
    unseen: Callable[[], bool],
    able: Able,
) -> str:
    """Why this step is taken now, or "" where it is not."""
    if by_hand:
        return "by_hand"
    if rung.at <= people.now:
        return "repeat" if rung.repeat else "time"
    if not rung.repeat and short_of(people, steps.ask, able(people, steps.ask)):
        return "too_few"
    # Asked once, at the first level, and only when there was time.
    late = steps.rung == 0 and people.now >= unseen_at(request)
    return "unseen" if late and unseen() else ""


def _take(steps: _Steps, rung: Rung, because: str, *, actor: Actor) -> None:
    steps.rung += 1
    steps.ask = replace(steps.ask, level=rung.level)
    words = {
        "time": f"Nobody answered in time at level {rung.level - 1}: level {rung.level} is asked too",
        "too_few": f"Too few can answer at level {rung.level - 1}: level {rung.level} was asked at once",
        "by_hand": f"{actor.name} asked level {rung.level} too",
        "unseen": f"Nobody was reached and nobody has looked: level {rung.level} was asked",
        "repeat": "Nobody has answered: everyone is asked again",
    }
    steps.facts.append(Fact(words[because], {"level": rung.level, "because": because}, actor))
    if because in ("repeat", "unseen"):
        steps.again.append(steps.rung)
    steps.unseen = steps.unseen or because == "unseen"


def _short(short: int, *, level: int) -> Fact:
    message = f"Too few can answer: {short} more would be needed. The administrators are told; the deadline runs"
    return Fact(message, {"level": level, "because": "nobody_left", "short": short})


def _due_at(request: ApprovalRequest, people: Roster, steps: _Steps, next_at: datetime, *, wakes: bool) -> datetime:
    """When to look again: the next step or the end, an absence that begins or ends, a hand-over of a rotation that is
    asked, a reminder, an unseen request."""
    coming = [outbox.closing_at(request), *([unseen_at(request)] if wakes and not steps.rung else [])]
    coming += [at for at in (people.next_change, people.handover(steps.ask.escalation.rotations)) if at]
    return min([next_at, *[at for at in coming if at > people.now]])
