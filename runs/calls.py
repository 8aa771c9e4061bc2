"""Calling what may never return: in a thread of its own, for a bounded time, its progress picked up meanwhile."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from django.conf import settings
from django.db import connections

logger = logging.getLogger(__name__)
TICK = 1.0  # Seconds between two looks at a running call's progress.


class Late(Exception):
    """The call did not return in time; its thread may linger and can write nothing any more."""


class Quit(RuntimeError):
    """The call raised what ends a thread or a process (SystemExit, a cancellation); here it ends the call alone."""


@dataclass(frozen=True)
class Told:
    """A fact about a running call, for people."""

    message: str
    done: int | None = None
    total: int | None = None


@dataclass
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


@dataclass
class _Job:
    act: Callable[[], Any]
    answer: SimpleQueue[tuple[bool, Any]] = field(default_factory=SimpleQueue)


class _Hand:
    """One thread that does one job after another."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self.lingering = False
        threading.Thread(target=self._work, name="hand", daemon=True).start()

    def _work(self) -> None:
        while job := self.jobs.get():
            try:
                job.answer.put((True, job.act()))
            except Exception as error:
                job.answer.put((False, error))
            except BaseException as error:  # No `except Exception` between here and the engine would see it.
                job.answer.put((False, Quit(f"The call ended itself with {type(error).__name__}.")))
            for each in connections.all(initialized_only=True):
                each.close()
        if self.lingering:
            _count(-1)


_own = threading.local()
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


def call(act: Callable[[], Any], *, timeout: float, tick: Callable[[], None] | None = None) -> Any:
    """What `act` returns or raises, from another thread; `tick` runs here each second. Raises Late."""
    hand = getattr(_own, "hand", None) or _Hand()
    _own.hand = hand
    job = _Job(act)
    hand.jobs.put(job)
    found = _await(job, timeout, tick)
    if found is None:
        _abandon(hand)
        raise Late
    good, value = found
    if good:
        return value
    raise value


def _await(job: _Job, timeout: float, tick: Callable[[], None] | None) -> tuple[bool, Any] | None:
    left = timeout
    while left > 0:
        pause = min(left, TICK)
        try:
            return job.answer.get(timeout=pause)
        except Empty:
            left -= pause
            if tick:
                tick()
    return None


def _abandon(hand: _Hand) -> None:
    """Leave the thread to its call; it ends when that does, and the next call gets a new one."""
    _own.hand = None
    hand.lingering = True
    _count(1)
    hand.jobs.put(None)
    logger.warning("A call was given up after its time; %d threads linger.", _lingering)
