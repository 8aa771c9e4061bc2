"""Calling what may never return: a stretch of work goes on in a thread of its own, watched by the one that waits.

The calls of the stretch are made in that thread too, so that none costs a hand-over. One that does not return in time
is given up with its thread, and what comes after it goes on in another. The thread that was left finds that out when
its call returns, and ends.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from math import inf
from queue import Empty, SimpleQueue
from typing import Any

from django.conf import settings
from django.db import connections
from psycopg.pq import TransactionStatus

from tenants import here, prepared

logger = logging.getLogger(__name__)
TICK = 1.0  # Seconds between two looks at a running call's progress.


class Late(Exception):
    """The call did not return in time; its thread may linger and can write nothing any more."""


class GivenUp(BaseException):
    """A call came back that was given up: this thread is to end, and may not write a word."""


class Quit(RuntimeError):
    """The call raised what ends a thread or a process (SystemExit, a cancellation); here it ends the call alone."""


@dataclass(frozen=True)
class Told:
    """A fact about a running call, for people."""

    message: str
    done: int | None = None
    total: int | None = None


@dataclass(slots=True)
class Box:
    """The latest progress of one call; after `closed` nothing is taken any more."""

    latest: Told | None = None
    closed: bool = False

    def put(self, told: Told) -> None:
        """Keep only the latest."""
        if not self.closed:
            self.latest = told

    def take(self) -> Told | None:
        """The latest that nobody took yet."""
        told, self.latest = self.latest, None
        return told


Answer = tuple[bool, Any]


@dataclass(slots=True)
class _Out:
    """A call that is out: until when, what is to be done if it is not back by then, and each second meanwhile."""

    until: float
    late: Callable[[], None]
    tick: Callable[[], None] | None
    tick_at: float


class _Watch:
    """One stretch of work, seen by the thread that does it and by the one that waits."""

    def __init__(self) -> None:
        self.answer: SimpleQueue[Answer | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._out: _Out | None = None
        self._look_at = 0.0

    def call(self, act: Callable[[], Any], out: _Out) -> Any:
        """Make the call in this thread. Raises GivenUp where nobody waits for it any more."""
        self._out = out
        if out.until < self._look_at:
            self.answer.put(None)  # The watcher would look too late.
        try:
            return copy_context().run(act)  # What the call sets for itself ends with it.
        except Exception:
            raise
        except BaseException as error:  # No `except Exception` between here and the engine would see it.
            raise _quit(error) from None
        finally:
            with self._lock:
                if self._out is not out:
                    raise GivenUp
                self._out = None
            _tidy()

    def wait(self) -> Callable[[], None] | None:
        """Until the work ends; what is to be done in its place where a call was given up. Raises what it raised."""
        while True:
            try:
                found = self.answer.get(timeout=self._pause())
            except Empty:
                found = None
            if found is not None:
                _given(found)
                return None
            if late := self._look():
                return late

    def _pause(self) -> float:
        self._look_at = inf  # A call that begins just now gives a sign.
        out, now = self._out, time.monotonic()
        self._look_at = now + TICK if out is None else min(out.until, out.tick_at)
        return max(0.0, self._look_at - now)

    def _look(self) -> Callable[[], None] | None:
        with self._lock:  # A call that returns meanwhile waits, so that its progress is told before its end.
            out, now = self._out, time.monotonic()
            if out is None:
                return None
            if now >= out.until:
                self._out = None
                return out.late
            if now >= out.tick_at:
                out.tick_at = now + TICK
                _tick(out)
        return None


def _tick(out: _Out) -> None:
    try:
        if out.tick:
            out.tick()
    except Exception:  # No progress is worth the call.
        logger.exception("The progress of a call could not be told.")
    finally:
        for each in connections.all(initialized_only=True):
            if not each.in_atomic_block:
                each.close()


def _quit(error: BaseException) -> Quit:
    return Quit(f"The call ended itself with {type(error).__name__}.")


def _tidy() -> None:
    """Give the connection away where the call left it within a transaction: what the engine writes has to commit."""
    here.put_back()
    database = here.database()
    raw = database.connection
    if raw is None or (raw.autocommit and raw.pgconn.transaction_status == TransactionStatus.IDLE):
        return
    prepared.forget()  # Else whoever gets it next would send what the call put off.
    database.close()
    if database.in_atomic_block:
        here.leave()


def _let_connections_go() -> None:
    """Whatever a call did to them: the thread has to be there for its next job."""
    for each in connections.all(initialized_only=True):
        try:
            each.close()
        except Exception:
            logger.exception("A connection could not be closed after a call.")
            here.leave(each.alias)


@dataclass
class _Job:
    act: Callable[[], Any]
    answer: "SimpleQueue[Any]" = field(default_factory=SimpleQueue)
    watch: _Watch | None = None


class _Hand:
    """One thread that does one job after another."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self.lingering = False
        threading.Thread(target=self._work, name="hand", daemon=True).start()

    def _work(self) -> None:
        while job := self.jobs.get():
            _own.watch = job.watch
            try:
                job.answer.put((True, job.act()))
            except Exception as error:
                job.answer.put((False, error))
            except BaseException as error:
                job.answer.put((False, _quit(error)))
            _let_connections_go()
        if self.lingering:
            _count(-1)
        if own := _own.hand:
            own.leave()

    def leave(self) -> None:
        """End when the job in hand does."""
        self.jobs.put(None)


class _Own(threading.local):
    """What belongs to one thread: the hand that works for it, the watch over what it does."""

    def __init__(self) -> None:
        self.hand: _Hand | None = None
        self.watch: _Watch | None = None
        here.database()  # Found before a call can put anything in its place.


_own = _Own()
_lock = threading.Lock()
_lingering = 0


def _count(change: int) -> None:
    global _lingering
    with _lock:
        _lingering += change


def lingering() -> int:
    """How many threads of this process are still inside calls that were given up."""
    return _lingering


def worn_out() -> bool:
    """Whether half of this worker's threads linger, so that another process should take its place."""
    threads: int = settings.CELERY_WORKER_CONCURRENCY
    return _lingering * 2 >= threads


def watched(work: Callable[[], None]) -> None:
    """Do this in another thread and wait for its end, and for that of what came after each call that was given up."""
    following: Callable[[], None] | None = work
    while following is not None:
        hand, watch = _hand(), _Watch()
        hand.jobs.put(_Job(following, watch.answer, watch))
        following = watch.wait()
        if following is not None:
            _abandon(hand)


def call(
    act: Callable[[], Any], *, timeout: float, late: Callable[[], None], tick: Callable[[], None] | None = None
) -> Any:
    """What `act` returns or raises, within watched work. After `timeout` seconds this thread is left alone with it, and
    `late` takes the place of all that was to follow. The watching thread runs `tick` each second."""
    if _own.watch is None:
        raise RuntimeError("A call that may never return is made within watched work.")
    now = time.monotonic()
    return _own.watch.call(act, _Out(now + timeout, late, tick, now + TICK))


def apart(act: Callable[[], Any], *, timeout: float) -> Any:
    """What `act` returns or raises, from a thread of its own, so that the work can go on where it is. Raises Late."""
    hand, job = _hand(), _Job(act)
    hand.jobs.put(job)
    try:
        return _given(job.answer.get(timeout=timeout))
    except Empty:
        _abandon(hand)
        raise Late from None


def _given(found: Answer) -> Any:
    good, value = found
    if good:
        return value
    raise value


def _hand() -> _Hand:
    _own.hand = _own.hand or _Hand()
    return _own.hand


def _abandon(hand: _Hand) -> None:
    """Leave the thread to its call; it ends when that does, and the next call gets a new one."""
    _own.hand = None
    hand.lingering = True
    _count(1)
    hand.leave()
    logger.warning("A call was given up after its time; %d threads linger.", _lingering)
