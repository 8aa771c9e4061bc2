"""Advance a run: load, plan, act, until it must wait. Recovery uses this door too; there is no other."""

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Max

from runs import acts, afterwards, calls, dispatch, gate, outages, recovery, standing, states, turns
from runs.agents import registry
from runs.beginning import Begun, begin
from runs.context import Conversation
from runs.entries import Closing, Journal, Opening, Planned, StepRow
from runs.errors import NotRegistered
from runs.journal import Halted, Holder, LostLease, StaleStamp, holder
from runs.leases import Lease, release, stopped
from runs.models import Attempt, Step
from runs.plan import Action, Answered, Execute, Finish, Judge, Park, Recover, Turn, plan
from runs.segment import Segment, Stopped
from runs.turns import Done
from tenants import actors, broker
from tenants.scope import scope

logger = logging.getLogger(__name__)


def advance(tenant: UUID, run: UUID, *, worker: str, knows: Collection[str], stopping: Callable[[], bool]) -> None:
    """Take the run if it is queued and known here, and work until it must wait. Never raises for the run's sake."""
    taken: list[Lease] = []

    def work() -> None:
        if began := begin(tenant, run, worker=worker, knows=knows):
            taken.append(began.lease)
            _held(began.lease, lambda: _advance(_segment(began, worker, stopping)))

    try:
        calls.watched(work)
    finally:
        for lease in taken:
            stopped(lease)  # What was not given up lapses by itself, and the sweep recovers the run.


def _held(lease: Lease, work: Callable[[], None]) -> None:
    try:
        work()
    except (Stopped, Halted):
        release(lease)
    except LostLease:
        # Not given up: where only its time ran out, the sweep has yet to find it, and a run is never without a holder.
        logger.warning("Run %s was taken over; this worker stops writing to it.", lease.run)
    except NotRegistered:
        holder(lease).give_back("This worker cannot run the version any more.")


def _advance(segment: Segment, late: Closing | None = None) -> None:
    """From the beginning, or from how an attempt ended whose call was given up."""
    if segment.journal.run.status in states.FINISHED:
        afterwards.settle(segment, late)
    else:
        _work(segment, late)


def _segment(began: Begun, worker: str, stopping: Callable[[], bool]) -> Segment:
    door = Holder(began.lease, began.journal())
    agent = registry.find(began.lease.agent, began.lease.version)
    look = began.look()
    door.told_time(look.now)
    segment = Segment(
        holder=door,
        agent=agent,
        actor=actors.worker(worker),
        settled=look.settled,
        views=look.views,
        conversation=Conversation(),
        stopping=stopping,
        call_ids={step.call_id for step in door.journal.steps if step.call_id},
    )
    segment.go_on = lambda late: _held(began.lease, lambda: _advance(segment, late))
    segment.conversation = _conversation(segment)
    door.prepare = lambda journal, step: turns.prepare(segment, journal, step)
    if agent.observe:
        segment.last_turn_at = _last_turn_at(segment)
    return segment


def _last_turn_at(segment: Segment) -> datetime | None:
    """When the model last answered, before this stretch of work."""
    turns = [step.seq for step in segment.journal.steps if step.kind == states.MODEL_TURN]
    with scope(segment.tenant, read_only=True):
        answered = Attempt.objects.filter(run_id=segment.run, seq__in=turns[-1:], closed_at__isnull=False)
        at: datetime | None = answered.aggregate(at=Max("closed_at"))["at"]
    return at


def _conversation(segment: Segment) -> Conversation:
    journal = segment.journal
    before = journal.steps[0].turn or _turns_before(segment, journal.steps[0].seq) if _compacted(journal) else 0
    return Conversation(
        whole=segment.whole,
        edits=lambda seq: segment.views[seq].edited_fields if seq in segment.views else (),
        turns=before,
    )


def _turns_before(segment: Segment, seq: int) -> int:
    with scope(segment.tenant, read_only=True):
        return Step.objects.filter(run_id=segment.run, seq__lt=seq, kind=states.MODEL_TURN).count()


def _compacted(journal: Journal) -> bool:
    return bool(journal.steps) and journal.steps[0].kind == states.COMPACTION


def _work(segment: Segment, late: Closing | None) -> None:
    """One boundary after the other; an opened attempt is always carried out before the next plan."""
    opened = _recorded(segment, Done(late)) if late else None
    while True:
        try:
            if opened is None:
                opened = _begin(segment, _planned(segment))
            else:
                opened = _recorded(segment, _perform(segment, opened))
        except StaleStamp:
            segment.renew()
            opened = None


def _planned(segment: Segment) -> Action:
    if segment.over():
        _give_back(segment)
    if segment.holder.behind:
        segment.renew()
    elif "pending" in {view.status for view in segment.views.values()}:
        segment.views = gate.latest(segment.tenant, segment.journal.run.subject)
    return plan(segment.journal, segment.facts())


def _give_back(segment: Segment) -> None:
    segment.holder.give_back("The worker is shutting down." if segment.stopping() else "Its time slice was used up.")
    broker.publish("runs.tasks.advance", segment.tenant, segment.run)
    raise Stopped


def _begin(segment: Segment, action: Action) -> StepRow | None:
    """Open what the action needs open, or do what needs no attempt; raises Stopped where the run stops."""
    match action:
        case Recover(step):
            segment.holder.close(recovery.crashed(step, segment.tool(step), now=segment.clock()))
        case Turn(kind, None):
            return segment.holder.open_turn(kind)
        case Turn(_, StepRow() as step):
            return segment.holder.open(Opening(step.seq))
        case Judge(step):
            dispatch.judge(segment, step)
        case Answered(step):
            dispatch.answered(segment, step)
        case Execute(step):
            return dispatch.execute(segment, step)
        case Park() | Finish():
            _stop(segment, action)
    return None


def _stop(segment: Segment, action: Park | Finish) -> None:
    if isinstance(action, Finish):
        result = action.result if action.status == "succeeded" else None
        asked = bool(segment.views)
        segment.holder.finish(action.status, result=result, reason=action.reason, message=action.message, asked=asked)
        raise Stopped
    if _park(segment, action):
        raise Stopped
    segment.renew()


def _park(segment: Segment, action: Park) -> bool:
    """Stop only if the plan, made again inside the lock, still says the same: no wake-up is lost between."""

    def still(journal: Journal) -> bool:
        views = gate.latest_here(journal.run.subject)
        now = plan(journal, segment.facts(views))
        return isinstance(now, Park) and (now.status, now.reason) == (action.status, action.reason)

    match action.status:
        case states.WAITING:
            return segment.holder.park(still)
        case states.SLEEPING:
            return segment.holder.sleep(still)
    return segment.holder.attention(action.reason, still, message=action.message)


def _perform(segment: Segment, step: StepRow) -> Done:
    if step.kind == states.TOOL_CALL:
        return Done(acts.perform(segment, step))
    return turns.perform(segment, step)


def _recorded(segment: Segment, done: Done) -> StepRow | None:
    try:
        return _settle(segment, done)
    except outages.AWAY:
        return outages.recorded(segment, done.closing, [each.planned for each in done.made])


def _settle(segment: Segment, done: Done) -> StepRow | None:
    """Record how the attempt ended and, in the same commit, open what may go on at once."""
    closing, first = done.closing, segment.journal.next_seq
    for place, each in enumerate(done.made):
        segment.call_ids.add(each.planned.call_id)
        if each.bound is not None:
            segment.bound[first + place] = each.bound
        if each.allowed:
            segment.allowed.add(first + place)
    plans = [each.planned for each in done.made]
    ahead = _ahead(segment, closing, plans)
    match _following(segment, ahead):
        case Execute(step):
            opening = dispatch.first_opening(segment, step)
            if plans:
                return segment.holder.close_turn_and_open(closing, plans=plans, opening=opening, ahead=ahead)
            return segment.holder.close_and_open(closing, opening, ahead=ahead)
        case Turn(kind, None) if not plans:
            return segment.holder.close_and_open(closing, kind, ahead=ahead)
        case Finish(states.SUCCEEDED, result=result) if not segment.views:
            segment.holder.close_and_succeed(closing, result)
            raise Stopped
    if plans:
        segment.holder.close_turn_and_open(closing, plans=plans)
    else:
        segment.holder.close(closing)
    return None


def _ahead(segment: Segment, closing: Closing, plans: Sequence[Planned]) -> Journal | None:
    """The journal once this is recorded, where what comes next can share its commit."""
    if closing.status != "completed" or segment.holder.behind or segment.over():
        return None
    return standing.ahead(segment.journal, closing, plans)


def _following(segment: Segment, ahead: Journal | None) -> Action | None:
    """What the plan will say then."""
    if ahead is None:
        return None
    action = plan(ahead, segment.facts())
    if isinstance(action, Execute):
        return action if action.step.status == "planned" and action.step.seq in segment.allowed else None
    return action if isinstance(action, Finish) or (isinstance(action, Turn) and action.step is None) else None
