"""From a planned call to an open attempt: what the rules say, what was approved, what has moved since (A3.4)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from approvals.requests import RequestView
from runs import calls, gate, plan, seen
from runs.arguments import BadArguments, Bound, jsonable
from runs.entries import Closing, Opening, StepRow
from runs.failures import Failure, classify, timed_out
from runs.gate import Moved, Wanted
from runs.recovery import reading_terms, timeout_of, what_follows
from runs.retries import Fate, after
from runs.segment import Segment
from runs.toolbox import context_of, key_of
from runs.tools import Tool, invoke
from tenants import exact_json

GONE = "The tool {} is not part of this agent any more. The call was not run."


def judge(segment: Segment, step: StepRow) -> None:
    """Say whether a planned call may run; where people must answer, read what they need and ask them."""
    tool = segment.tool(step)
    if tool is None:
        return _refuse(segment, step, GONE.format(step.tool))
    wanted = _wanted(segment, step, tool, arguments=step.arguments or "{}")
    call = gate.proposed(wanted, segment.settled)
    requirement = gate.judge(call, segment.settled, now=segment.clock())
    if requirement.outcome == "allow":
        segment.allowed.add(step.seq)
        return None
    if requirement.outcome == "deny":
        return _refuse(segment, step, gate.why_denied(call, segment.settled, requirement))
    ready = _looked_at(segment, wanted)
    return _ask(segment, step, ready) if ready else None


def _ask(segment: Segment, step: StepRow, wanted: Wanted) -> None:
    """Open the request under the lock, by the rules as they are there, if nobody has meanwhile."""

    def act(journal: Any) -> None:
        subject = journal.run.subject
        if journal.step(step.seq).status != "planned" or step.seq in gate.latest_here(subject):
            return
        settled = gate.standing_here(segment.tenant)
        call = gate.proposed(wanted, settled)
        requirement = gate.judge(call, settled, now=segment.clock())
        if requirement.outcome == "require_approval":
            call = gate.proposed(_told(wanted, journal, step), settled)
            gate.ask(call, requirement, subject=subject, seq=step.seq, actor=segment.actor)

    segment.holder.locked(act)
    segment.renew()


def _told(wanted: Wanted, journal: Any, step: StepRow) -> Wanted:
    """The call with what the reviewer is told beside it, which is no part of what is judged."""
    waiting = plan.dependents(journal, step.seq, parallel=wanted.agent.parallel)
    return replace(wanted, seen=seen.told(journal, step), dependents=waiting)


def _refuse(segment: Segment, step: StepRow, why: str) -> None:
    segment.holder.decline(step.seq, reason="refused", text=why)


def answered(segment: Segment, step: StepRow) -> None:
    """Close a planned call whose request ended without a yes and whose step was missed."""
    view = segment.views[step.seq]
    reason = view.status if view.status in ("rejected", "responded", "expired") else "cancelled"
    segment.holder.decline(step.seq, reason=reason, text=view.text)


def execute(segment: Segment, step: StepRow) -> StepRow | None:
    """Open the attempt that is due on this call; None where something moved and the plan has to be made again."""
    tool = segment.tool(step)
    if tool is None:
        _lost_tool(segment, step)
        return None
    if step.status == "started":
        return _once_more(segment, step, tool)
    view = segment.views.get(step.seq)
    if view is None:
        return segment.holder.open(first_opening(segment, step))
    return _approved(segment, step, tool, view)


def first_opening(segment: Segment, step: StepRow) -> Opening:
    """The opening of an allowed call's first attempt, valid only under the stamp it was allowed under."""
    return Opening(
        step.seq,
        key=key_of(segment, step, step.digest),
        stamp=segment.settled.stamp,
        message=_message(segment, step),
    )


def _message(segment: Segment, step: StepRow) -> str:
    tool = segment.tool(step)
    return tool.title if tool else step.tool


def _lost_tool(segment: Segment, step: StepRow) -> None:
    if step.status == "planned":
        _refuse(segment, step, GONE.format(step.tool))
    else:
        segment.holder.open(Opening(step.seq, kind="lookup", key=step.attempts[-1].key))
        segment.holder.close(Closing(step.seq, "unknown", note=GONE.format(step.tool)))


def _once_more(segment: Segment, step: StepRow, tool: Tool) -> StepRow | None:
    fate = what_follows(step, tool, now=segment.clock())
    key = key_of(segment, step, step.digest)
    if fate is Fate.ASK:
        return segment.holder.open(Opening(step.seq, kind="lookup", key=key))
    return segment.holder.open(Opening(step.seq, key=key, message=_message(segment, step)))


def _approved(segment: Segment, step: StepRow, tool: Tool, view: RequestView) -> StepRow | None:
    try:
        bound = tool.read(view.arguments)
    except BadArguments as error:
        _refuse(segment, step, f"The approved arguments do not fit the tool: {error} The call was not run.")
        return None
    wanted = _wanted(segment, step, tool, arguments=bound.text)
    wanted = replace(wanted, precondition=view.precondition)
    moved = gate.checked(wanted, view, segment.settled, now=segment.clock())
    if moved is None and tool.precondition is not None:
        read = _read(segment, step, tool, bound, "precondition")
        if read is None:
            return None
        wanted = replace(wanted, precondition=read.text)
        moved = _precondition(view, read)
    if moved is not None:
        _moved(segment, step, wanted, view, moved)
        return None
    segment.bound[step.seq] = bound
    return segment.holder.open(_opening(segment, step, wanted))


def _opening(segment: Segment, step: StepRow, wanted: Wanted) -> Opening:
    """The opening of an approved call; after an edit the approved arguments take the place of the model's."""
    edited = wanted.arguments != step.arguments
    return Opening(
        step.seq,
        key=key_of(segment, step, wanted.digest),
        stamp=segment.settled.stamp,
        arguments=wanted.arguments if edited else None,
        digest=wanted.digest if edited else "",
        message=_message(segment, step),
    )


def _precondition(view: RequestView, read: "Read") -> Moved | None:
    if read.failed:
        return Moved(f"What has to hold before the act could not be read: {read.failed} The call was not run.")
    if gate.same(view.precondition, read.text):
        return None
    fields = [{"name": "precondition", "before": _plain(view.precondition), "after": _plain(read.text)}]
    return Moved("What had to hold when this was approved has changed.", view.requirement, fields=fields)


def _plain(text: str | None) -> Any:
    return None if text is None else exact_json.loads(text)


def _moved(segment: Segment, step: StepRow, wanted: Wanted, view: RequestView, moved: Moved) -> None:
    """Refuse, or ask again with the difference; after three rounds the model is told that it will not do."""
    if moved.requirement is None:
        return _refuse(segment, step, moved.because)
    if view.round >= gate.ROUNDS:
        return _refuse(segment, step, f"{moved.because} It was asked {view.round} times; the call was not run.")
    wanted = _with_evidence(segment, step, wanted, wanted.tool.read(wanted.arguments))

    def act(journal: Any) -> None:
        standing = gate.latest_here(journal.run.subject).get(step.seq)
        if standing and standing.id == view.id and standing.status == "approved":
            asked = _told(wanted, journal, step)
            gate.ask_again(asked, view, moved, segment.settled, actor=segment.actor)

    segment.holder.locked(act)
    return segment.renew()


def _wanted(segment: Segment, step: StepRow, tool: Tool, *, arguments: str) -> Wanted:
    return Wanted(
        run=segment.journal.run,
        agent=segment.agent,
        tool=tool,
        seq=step.seq,
        proposed=step.proposed or "",
        arguments=arguments,
        digest=gate.digest(tool, arguments),
        rationale=step.rationale or "",
    )


@dataclass(frozen=True)
class Read:
    """What a precondition or evidence came to: JSON text, or why there is none."""

    text: str | None = None
    failed: str = ""


def _looked_at(segment: Segment, wanted: Wanted) -> Wanted | None:
    """The call with its precondition and evidence read; None where the precondition has to be read again later."""
    tool, step = wanted.tool, segment.journal.step(wanted.seq)
    bound = tool.read(wanted.arguments)
    if tool.precondition is not None:
        read = _read(segment, step, tool, bound, "precondition")
        if read is None:
            return None
        if read.failed:
            why = f"What has to hold before the act could not be read: {read.failed} The call was not run."
            _refuse(segment, step, why)
            return None
        wanted = replace(wanted, precondition=read.text)
    return _with_evidence(segment, step, wanted, bound)


def _with_evidence(segment: Segment, step: StepRow, wanted: Wanted, bound: Bound) -> Wanted:
    if wanted.tool.evidence is None:
        return wanted
    read = _read(segment, step, wanted.tool, bound, "evidence") or Read(failed="It could not be read.")
    return replace(wanted, evidence=read.text, evidence_error=read.failed)


def _read(segment: Segment, step: StepRow, tool: Tool, bound: Bound, kind: str) -> Read | None:
    """Read it as an attempt of its own kind. None: a precondition that may be read later, by its `due_at`."""
    function = tool.precondition if kind == "precondition" else tool.evidence
    opened = segment.holder.open(Opening(step.seq, kind=kind))  # type: ignore[arg-type]
    ctx = context_of(segment, opened, calls.Box())
    found = _looked(segment, lambda: exact(invoke(function, ctx, bound.values)), timeout=timeout_of(tool))  # type: ignore[arg-type]
    if not isinstance(found, Failure):
        segment.holder.close(Closing(step.seq, None))
        return Read(text=found)
    again = _read_again(segment, opened, tool, found, kind)
    closing = Closing(step.seq, None, cause=found.cause, message=found.message, not_done=True, delay=again)
    segment.holder.close(closing)
    return Read(failed=found.message) if again is None else None


def _looked(segment: Segment, act: Callable[[], str], *, timeout: float) -> str | Failure:
    try:
        found: str = calls.apart(act, timeout=timeout)
    except calls.Late:
        return timed_out(timeout)
    except Exception as error:
        return classify(error, now=segment.clock())
    return found


def _read_again(segment: Segment, step: StepRow, tool: Tool, failure: Failure, kind: str) -> float | None:
    if kind == "evidence":
        return None
    tries = [replace(each, kind="call", not_done=True) for each in step.attempts if each.kind == kind]
    follows = after(failure, tries, terms=reading_terms(timeout_of(tool)), now=segment.clock())
    return follows.pause if follows.fate is Fate.AGAIN else None


def attempt(
    segment: Segment,
    act: Callable[[], str],
    ended: Callable[[str | Failure], Closing],
    *,
    timeout: float,
    tick: Callable[[], None] | None = None,
) -> Closing:
    """Call what gives JSON text; how the attempt ended, by that text or the classified failure.

    Writing the text counts towards the call's time. Past it, the segment goes on with the same closing elsewhere.
    """

    def late() -> None:
        segment.go_on(ended(timed_out(timeout)))

    try:
        found: str | Failure = calls.call(act, timeout=timeout, late=late, tick=tick)
    except Exception as error:
        found = classify(error, now=segment.clock())
    return ended(found)


def written(value: Any) -> str:
    """The result as JSON text. What JSON cannot say is told as such: the call itself did happen."""
    try:
        return exact(value)
    except Exception as error:  # A value may raise anything while it is read.
        why = classify(error).message
        return exact_json.dumps({"error": f"The call was made, but its result cannot be kept: {why}"})


def exact(value: Any) -> str:
    """The value as JSON text. Raises where JSON cannot say it: nothing may be compared with what was not read."""
    return exact_json.dumps(jsonable(value))


def margin_left(segment: Segment) -> bool:
    """Whether the lease lasts long enough to begin a call."""
    return segment.holder.lease.remaining() > segment.lease_margin
