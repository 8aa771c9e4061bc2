"""How far a request has travelled: the next level by time, at once where too few can answer, or by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from approvals import asked, escalations
from approvals.models import ApprovalRequest, Viewing
from approvals.notifications import outbox
from approvals.reviewers import Asking, Verdict, able, short_of
from approvals.rosters import Roster
from approvals.story import tell
from tenants import prepared
from tenants.actors import SYSTEM, Actor

_ASK = prepared.statement("request_ask", "uuid uuid timestamptz json")
_ADVANCE = prepared.statement(
    "request_advance", "uuid uuid timestamptz json integer integer integer timestamptz timestamptz bigint"
)


def climb(
    request: ApprovalRequest, people: Roster, ask: Asking, *, by_hand: Actor | None = None, new: bool = False
) -> list[UUID]:
    """Take the steps that are due, let the list of the asked follow, and write when to look again.

    A level that too few can answer is passed at once, and the event says so. `by_hand` takes one step more.
    A `new` request is inserted here. Returns the members who are asked now and were not before.
    """
    rungs = escalations.schedule(ask.escalation, opened_at=request.opened_at)
    ask = _step(request, people, ask, rungs, by_hand=by_hand)
    may = able(people, ask)
    short = short_of(people, ask, may)
    if short and not request.short:
        _tell_short(request, short)
    request.short = short
    request.next_at = min([request.deadline, *[rung.at for rung in rungs[request.rung : request.rung + 1]]])
    request.due_at = _due_at(request, people, ask, wakes=bool(rungs))
    request.asked_stamp = people.stamp
    added = _write(request, people, may, new=new)
    _notify(request, people, added)
    return added


def _write(request: ApprovalRequest, people: Roster, may: Mapping[UUID, Verdict], *, new: bool) -> list[UUID]:
    """Write the row and who is asked; the members who were not asked before."""
    key = (str(request.tenant_id), str(request.pk), people.now.isoformat(), asked.may(may))
    if new:
        request.save(force_insert=True)
        added = prepared.every(_ASK, key)
    else:
        numbers = (str(request.escalation_level), str(request.rung), str(request.short))
        times = [at.isoformat() if at else None for at in (request.due_at, request.next_at)]
        added = prepared.every(_ADVANCE, (*key, *numbers, *times, str(request.asked_stamp)))
    return [member for (member,) in added]


def _notify(request: ApprovalRequest, people: Roster, added: Sequence[UUID]) -> None:
    """Let those be told who were not asked before, and all of them once the time is nearly over."""
    outbox.tell(request, outbox.ASKED, added)
    if outbox.closing_at(request) <= people.now < request.deadline:
        outbox.tell(request, outbox.CLOSING, asked.now(request))


def _due_at(request: ApprovalRequest, people: Roster, ask: Asking, *, wakes: bool) -> datetime:
    """When to look again: the next step or the end, an absence that begins or ends, a hand-over of a rotation that is
    asked, a reminder, an unseen request."""
    coming = [outbox.closing_at(request), *([_unseen_at(request)] if wakes and not request.rung else [])]
    coming += [at for at in (people.next_change, people.handover(ask.escalation.rotations)) if at]
    return min([request.next_at or request.deadline, *[at for at in coming if at > people.now]])


def _unseen_at(request: ApprovalRequest) -> datetime:
    """Until when somebody who is asked must have been reached or have looked."""
    return request.opened_at + timedelta(seconds=settings.UNSEEN_SECONDS)


def _is_unseen(request: ApprovalRequest, people: Roster) -> bool:
    """Whether nobody was reached and nobody has looked, though there was time; asked once, at the first level."""
    if request.rung or people.now < _unseen_at(request):
        return False
    return not (outbox.reached(request) or Viewing.objects.filter(request=request).exists())


def _step(
    request: ApprovalRequest,
    people: Roster,
    ask: Asking,
    rungs: Sequence[escalations.Rung],
    *,
    by_hand: Actor | None,
) -> Asking:
    while request.rung < len(rungs):
        rung = rungs[request.rung]
        because = _because(request, rung, people, ask, by_hand=by_hand)
        if not because:
            break
        request.rung += 1
        request.escalation_level = rung.level
        ask = replace(ask, level=rung.level)
        _tell_level(request, rung, because, actor=by_hand or SYSTEM)
        if because in ("repeat", "unseen"):
            outbox.tell(request, outbox.AGAIN, asked.now(request), mark=str(request.rung))
        if because == "unseen":
            outbox.tell_admins(request, outbox.NOBODY)
        by_hand = None
    return ask


def _because(
    request: ApprovalRequest, rung: escalations.Rung, people: Roster, ask: Asking, *, by_hand: Actor | None
) -> str:
    """Why this step is taken now, or "" where it is not."""
    if by_hand:
        return "by_hand"
    if rung.at <= people.now:
        return "repeat" if rung.repeat else "time"
    if not rung.repeat and short_of(people, ask, able(people, ask)):
        return "too_few"
    return "unseen" if _is_unseen(request, people) else ""


def _tell_level(request: ApprovalRequest, rung: escalations.Rung, because: str, *, actor: Actor) -> None:
    words = {
        "time": f"Nobody answered in time at level {rung.level - 1}: level {rung.level} is asked too",
        "too_few": f"Too few can answer at level {rung.level - 1}: level {rung.level} was asked at once",
        "by_hand": f"{actor.name} asked level {rung.level} too",
        "unseen": f"Nobody was reached and nobody has looked: level {rung.level} was asked",
        "repeat": "Nobody has answered: everyone is asked again",
    }
    data = {"level": rung.level, "because": because}
    tell(request, "approval.escalated", actor=actor, message=words[because], data=data)


def _tell_short(request: ApprovalRequest, short: int) -> None:
    message = f"Too few can answer: {short} more would be needed. The administrators are told; the deadline runs"
    data = {"level": request.escalation_level, "because": "nobody_left", "short": short}
    tell(request, "approval.escalated", actor=SYSTEM, message=message, data=data)
    outbox.tell_admins(request, outbox.NOBODY)
