"""The act itself: an open attempt on a call is carried out once, and closed with what it came to."""

from runs import calls, outages
from runs.arguments import BadArguments
from runs.dispatch import attempt, margin_left, written
from runs.entries import Closing, StepRow
from runs.errors import OutcomeUnknown
from runs.failures import Failure
from runs.journal import Halted
from runs.recovery import call_failed, lookup_failed, timeout_of
from runs.segment import Segment
from runs.toolbox import context_of
from runs.tools import Found, NotFound, Tool, invoke

TOO_LATE = Failure("error", not_done=True, message="The worker's lease was about to lapse, so the call was not begun.")


def perform(segment: Segment, step: StepRow) -> Closing:
    """Carry out the attempt that is open on this step."""
    tool = segment.tool(step)
    if tool is None:
        raise LookupError(f"Step {step.seq} was opened without its tool.")
    if step.attempts[-1].kind == "lookup":
        return _lookup(segment, step, tool)
    return _call(segment, step, tool)


def _call(segment: Segment, step: StepRow, tool: Tool) -> Closing:
    try:
        values = _values(segment, step, tool)
    except BadArguments as error:
        failure = Failure("invalid", not_done=True, message=str(error))
        return call_failed(step, failure, tool, now=segment.clock())
    if not margin_left(segment):
        return call_failed(step, TOO_LATE, tool, now=segment.clock())
    box = calls.Box()
    ctx = context_of(segment, step, box)

    def ended(found: str | Failure) -> Closing:
        box.closed = True
        _tell(segment, step, box)
        if isinstance(found, Failure):
            return call_failed(step, found, tool, now=segment.clock())
        return Closing(step.seq, "completed", result=outages.fit(segment, found))

    return attempt(
        segment,
        lambda: written(invoke(tool.function, ctx, values)),
        ended,
        timeout=timeout_of(tool, usual=segment.tool_timeout),
        tick=lambda: _tell(segment, step, box),
    )


def _values(segment: Segment, step: StepRow, tool: Tool) -> dict[str, object]:
    """The bound arguments as the tool's own values, from the text that was shown and hashed."""
    bound = segment.bound.pop(step.seq, None)
    if bound is None or bound.text != step.arguments:
        bound = tool.read(segment.whole(step, "arguments"))
    return dict(bound.values)


def _tell(segment: Segment, step: StepRow, box: calls.Box) -> None:
    """Write the latest progress, if it can be told: no run that was stopped and no outage is worth the result."""
    if told := box.take():
        try:
            segment.holder.progress(step.seq, message=told.message, done=told.done, total=told.total)
        except (Halted, *outages.AWAY):
            return


def _lookup(segment: Segment, step: StepRow, tool: Tool) -> Closing:
    if tool.lookup is None:
        return Closing(step.seq, "unknown", note="The tool has no lookup any more.")
    values = _values(segment, step, tool)
    ctx = context_of(segment, step, calls.Box())
    outcome: list[Found | NotFound] = []

    def look() -> str:
        answer = invoke(tool.lookup, ctx, values)  # type: ignore[arg-type]
        if not isinstance(answer, Found | NotFound):
            raise OutcomeUnknown(f"The lookup answered with a {type(answer).__name__}, not Found or NotFound.")
        outcome.append(answer)
        return written(answer.result) if isinstance(answer, Found) else ""

    def ended(found: str | Failure) -> Closing:
        if isinstance(found, Failure):
            return lookup_failed(step, found, tool)
        return _found(segment, step, outcome[0], found)

    return attempt(segment, look, ended, timeout=timeout_of(tool))


def _found(segment: Segment, step: StepRow, answer: Found | NotFound, result: str) -> Closing:
    if isinstance(answer, NotFound):
        return Closing(step.seq, "started", not_done=True, delay=0.0, message="The lookup found nothing.")
    text = outages.fit(segment, result)
    return Closing(step.seq, "completed", result=text, note="The lookup found that it had happened.")
