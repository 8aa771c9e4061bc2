"""What an attempt that did not go well leaves behind, also one whose holder vanished: by effect, as one closing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.conf import settings

from runs import retries, states
from runs.entries import AttemptRow, Closing, StepRow
from runs.failures import CRASHED, Failure
from runs.retries import Fate, Next, Terms
from runs.tools import Effect, Tool


def timeout_of(tool: Tool, *, usual: float | None = None) -> float:
    """Seconds that a call of this tool may take; `usual` is TOOL_TIMEOUT where that is at hand."""
    if tool.timeout is not None:
        return float(tool.timeout)
    return float(settings.TOOL_TIMEOUT) if usual is None else usual


def terms_of(tool: Tool, step: StepRow) -> Terms:
    """What this tool allows after a failure of this step."""
    return Terms(
        effect=tool.effect,
        max_attempts=tool.max_attempts or settings.TOOL_MAX_ATTEMPTS,
        timeout=timeout_of(tool),
        key_lifetime=tool.key_lifetime,
        can_ask=tool.lookup is not None,
        spent=step.spent,
    )


def reading_terms(timeout: float) -> Terms:
    """What reading evidence, a precondition or the world again allows: it is a `read`."""
    return Terms(effect=Effect.READ, max_attempts=settings.TOOL_MAX_ATTEMPTS, timeout=timeout)


def turn_terms(step: StepRow) -> Terms:
    """What a model turn, an observation or a compaction allows: it is a `read`."""
    limit, timeout = settings.MODEL_MAX_ATTEMPTS, settings.MODEL_TIMEOUT
    return Terms(effect=Effect.READ, max_attempts=limit, timeout=timeout, spent=step.spent)


def crashed(step: StepRow, tool: Tool | None, *, now: datetime) -> Closing:
    """How the attempt that a vanished holder left open is closed."""
    left = step.attempts[-1]
    if step.kind != states.TOOL_CALL:
        return turn_failed(step, CRASHED, now=now)
    if left.kind in ("evidence", "precondition"):
        return Closing(step.seq, None, cause=CRASHED.cause, message=CRASHED.message, not_done=True)
    if tool is None:
        return _unknown(step, CRASHED, "No worker knows this tool any more.")
    if left.kind == "lookup":
        return lookup_failed(step, CRASHED, tool)
    return call_failed(step, CRASHED, tool, now=now)


def turn_failed(step: StepRow, failure: Failure, *, now: datetime) -> Closing:
    """A model turn, observation or compaction that did not go well: again after a pause, or failed for good."""
    follows = retries.after(failure, _closed(step.attempts, failure), terms=turn_terms(step), now=now)
    if follows.fate is Fate.AGAIN:
        return _again(step, failure, follows)
    return _again(step, failure, follows)._replace(
        status="failed", delay=None, result=failure.message, reason=failure.cause
    )


def call_failed(step: StepRow, failure: Failure, tool: Tool, *, now: datetime) -> Closing:
    """A tool call that did not go well, by the table of errors and effects."""
    follows = retries.after(failure, _tries(step, failure), terms=terms_of(tool, step), now=now)
    return _closing(step, failure, follows)


def lookup_failed(step: StepRow, failure: Failure, tool: Tool) -> Closing:
    """A lookup that could not be read: asked again later, and for good the outcome stays unknown."""
    follows = retries.after_lookup(failure, _tries(step, failure), terms=terms_of(tool, step))
    return _closing(step, failure, follows)


def what_follows(step: StepRow, tool: Tool, *, now: datetime) -> Fate:
    """What a call between attempts needs now: the call again, or its lookup first."""
    tries = _generation(step)
    last = tries[-1]
    if last.kind == "lookup":
        return Fate.AGAIN if last.not_done and not last.cause else Fate.ASK
    failure = Failure(last.cause, bool(last.not_done), last.message)
    fate = retries.after(failure, tries, terms=terms_of(tool, step), now=now).fate
    return Fate.AGAIN if fate is Fate.PERSON else fate


def _closing(step: StepRow, failure: Failure, follows: Next) -> Closing:
    match follows.fate:
        case Fate.FAIL:
            told = f"The call failed and did not happen: {failure.message}" if failure.not_done else ""
            result = told or f"The call failed: {failure.message}"
            return _again(step, failure, follows)._replace(
                status="failed", delay=None, result=result, reason=failure.cause
            )
        case Fate.UNKNOWN:
            return _unknown(step, failure, "Whether it happened is not known; a person has to find out.")
        case Fate.PERSON:
            return _again(step, failure, follows)._replace(delay=None)
    return _again(step, failure, follows)


def _unknown(step: StepRow, failure: Failure, note: str) -> Closing:
    return Closing(
        step.seq, "unknown", cause=failure.cause, message=failure.message, not_done=failure.not_done, note=note
    )


def _again(step: StepRow, failure: Failure, follows: Next) -> Closing:
    pause = 0.0 if failure is CRASHED and follows.fate is Fate.AGAIN else follows.pause
    return Closing(
        step.seq, "started", cause=failure.cause, message=failure.message, not_done=failure.not_done, delay=pause
    )


def _tries(step: StepRow, failure: Failure) -> Sequence[AttemptRow]:
    return _closed(_generation(step), failure)


def _closed(attempts: Sequence[AttemptRow], failure: Failure) -> Sequence[AttemptRow]:
    """The attempts with the last one as it will be once closed."""
    return [*attempts[:-1], replace(attempts[-1], not_done=failure.not_done)]


def _generation(step: StepRow) -> Sequence[AttemptRow]:
    """The calls and lookups under the key at hand; those before a person said "do it again" do not count."""
    acts = [each for each in step.attempts if each.kind in ("call", "lookup")]
    return [each for each in acts if each.key == acts[-1].key]
