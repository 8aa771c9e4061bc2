"""A finished run with a call that a lost holder left open: nothing is called any more; a lookup may be asked."""

from runs import acts, recovery, retries
from runs.entries import Closing, Opening, StepRow
from runs.failures import CRASHED
from runs.leases import release, stopped
from runs.segment import Segment, Stopped
from runs.tools import Tool

GIVEN_UP = "The run is over and its outcome could not be looked up; a person has to find out."


def settle(segment: Segment, late: Closing | None = None) -> None:
    """Ask what became of each call in a lost holder's hand, or say that nobody knows. Always raises Stopped.

    `late` is how a lookup ended that was given up; those that are left follow it.
    """
    if late is not None:
        _close(segment, late)
    fence = segment.holder.lease.fence
    left = [step for step in segment.journal.steps if step.open_attempt and step.open_attempt.fence != fence]
    for step in left:
        tool = segment.tool(step)
        if tool is None or tool.lookup is None:
            _unknown(segment, step)
        elif not _quiet(segment, step, tool):
            stopped(segment.holder.lease)  # It lapses, and the sweep comes back when the call is surely over.
            raise Stopped
        else:
            _look(segment, step)
    release(segment.holder.lease)
    raise Stopped


def _quiet(segment: Segment, step: StepRow, tool: Tool) -> bool:
    """Whether the lost holder's process can no longer be inside the call."""
    began = [each.opened_at for each in step.attempts if each.kind == "call"]
    return segment.clock() >= retries.askable_from(began[-1], recovery.timeout_of(tool))


def _unknown(segment: Segment, step: StepRow) -> None:
    closing = Closing(step.seq, "unknown", cause=CRASHED.cause, message=CRASHED.message, not_done=False, note=GIVEN_UP)
    segment.holder.close(closing)


def _look(segment: Segment, step: StepRow) -> None:
    """Close the lost attempt and open a lookup in one commit; whatever it says ends the step."""
    key = step.attempts[-1].key
    lost = Closing(step.seq, None, cause=CRASHED.cause, message=CRASHED.message, not_done=False)
    opened = segment.holder.close_and_open(lost, Opening(step.seq, kind="lookup", key=key))
    _close(segment, acts.perform(segment, opened))


def _close(segment: Segment, said: Closing) -> None:
    segment.holder.close(_ended(said) if said.status == "started" else said)


def _ended(said: Closing) -> Closing:
    """A step of a finished run does not go on: what was not done stays so, what is not known is for a person."""
    if said.cause:
        return Closing(said.step, "unknown", cause=said.cause, message=said.message, not_done=False, note=GIVEN_UP)
    return Closing(said.step, "declined", reason="cancelled", not_done=True, note="The lookup found nothing.")
