"""What follows a failed attempt, by error and effect: a table, and the pause before the next try."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from django.conf import settings

from runs.failures import Failure
from runs.tools import Effect


class Fate(StrEnum):
    """What happens to a step whose last attempt did not go well.

    `AGAIN`: the same call under the same key. `ASK`: the tool's lookup first. `FAIL`: a result for the model
    (a model turn fails its run). `UNKNOWN`: a person settles it. `PERSON`: somebody must grant something.
    """

    AGAIN = "again"
    ASK = "ask"
    FAIL = "fail"
    UNKNOWN = "unknown"
    PERSON = "person"


_REPEATABLE = {Effect.READ: Fate.AGAIN, Effect.IDEMPOTENT: Fate.AGAIN, Effect.KEYED: Fate.AGAIN}
_ALL = dict.fromkeys(Effect, Fate.AGAIN)

NOT_DONE = {
    "invalid": dict.fromkeys(Effect, Fate.FAIL),
    "permission": dict.fromkeys(Effect, Fate.PERSON),
    "rate_limited": _ALL,
    "connection": _ALL,
    "server": _ALL,
}
"""Rows of errors that prove that nothing left, by cause."""

MAY_HAVE_HAPPENED = {**_REPEATABLE, Effect.LOOKUP: Fate.ASK, Effect.MANUAL: Fate.UNKNOWN}
"""The one row of every other error: time-outs, 5xx, broken connections, crashes, all that is unnamed."""


def fate(cause: str, *, not_done: bool, effect: Effect) -> Fate:
    """The table's answer for one failure of one effect."""
    return NOT_DONE.get(cause, _ALL)[effect] if not_done else MAY_HAVE_HAPPENED[effect]


class Tried(Protocol):
    """What the rules read of one attempt; `not_done` is None where it went well or is open."""

    @property
    def number(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def opened_at(self) -> datetime: ...
    @property
    def not_done(self) -> bool | None: ...


@dataclass(frozen=True)
class Terms:
    """What a tool (or the model) allows: seconds are floats, `can_ask` says that it has a lookup."""

    effect: Effect
    max_attempts: int
    timeout: float
    key_lifetime: float = 0.0
    can_ask: bool = False
    spent: int = 0
    """Attempts up to this number count no more towards `max_attempts`: a person let it try again."""


@dataclass(frozen=True)
class Next:
    """What follows and the pause before it, in seconds from now; `doubt` says that it may have happened."""

    fate: Fate
    pause: float = 0.0
    doubt: bool = False


def doubtful(attempts: Sequence[Tried]) -> Sequence[Tried]:
    """The calls that may have happened and that no later lookup has cleared."""
    cleared = max((place for place, each in enumerate(attempts) if _cleared(each)), default=-1)
    return [each for each in attempts[cleared + 1 :] if each.kind == "call" and each.not_done is False]


def _cleared(attempt: Tried) -> bool:
    return attempt.kind == "lookup" and attempt.not_done is True


def after(failure: Failure, attempts: Sequence[Tried], *, terms: Terms, now: datetime) -> Next:
    """What follows `failure`, the end of the last of `attempts`, all made under one key, oldest first."""
    doubt = doubtful(attempts)
    calls = [each for each in attempts if each.kind == "call"]
    chosen = fate(failure.cause, not_done=failure.not_done, effect=terms.effect)
    if chosen is Fate.AGAIN:
        chosen = _bounded(calls, doubt, terms, now)
    if chosen is Fate.FAIL and doubt and terms.effect is not Effect.READ:
        chosen = Fate.UNKNOWN
    if chosen is Fate.UNKNOWN and terms.can_ask:
        chosen = Fate.ASK
    return Next(chosen, _pause(chosen, failure, calls, terms, now), doubt=bool(doubt))


def _bounded(calls: Sequence[Tried], doubt: Sequence[Tried], terms: Terms, now: datetime) -> Fate:
    if sum(each.number > terms.spent for each in calls) >= terms.max_attempts:
        return Fate.FAIL
    if terms.effect is Effect.KEYED and doubt and now - doubt[0].opened_at >= timedelta(seconds=terms.key_lifetime):
        return Fate.UNKNOWN
    return Fate.AGAIN


def _pause(chosen: Fate, failure: Failure, calls: Sequence[Tried], terms: Terms, now: datetime) -> float:
    if chosen is Fate.ASK:
        return max(0.0, (askable_from(calls[-1].opened_at, terms.timeout) - now).total_seconds())
    return backoff(len(calls), told=failure.wait) if chosen is Fate.AGAIN else 0.0


def after_lookup(failure: Failure, attempts: Sequence[Tried], *, terms: Terms) -> Next:
    """What follows a lookup that could not be read: asked again as a `read`, for good it stays unknown."""
    asked = sum(each.kind == "lookup" and each.number > terms.spent for each in attempts)
    if failure.cause == "permission":
        return Next(Fate.PERSON, doubt=True)
    if asked >= terms.max_attempts or failure.cause == "invalid":
        return Next(Fate.UNKNOWN, doubt=True)
    return Next(Fate.ASK, backoff(asked, told=failure.wait), doubt=True)


def askable_from(opened_at: datetime, timeout: float) -> datetime:
    """From when a call's outcome can be looked up or settled: its process can no longer be inside it."""
    return opened_at + timedelta(seconds=timeout + settings.LEASE_MARGIN)


def backoff(
    attempt: int, *, told: float | None = None, draw: Callable[[float, float], float] = random.uniform
) -> float:
    """Seconds before the next try after `attempt` tries: exponential with full jitter, a told wait kept.

    Full jitter spreads those that failed together (Brooker, "Exponential Backoff And Jitter", 2015).
    """
    ceiling: float = min(settings.RETRY_CAP, settings.RETRY_BASE * 2 ** min(max(attempt, 1) - 1, 32))
    longest: float = settings.RETRY_TOLD_CAP
    return min((told or 0.0) + draw(0.0, ceiling), longest)
