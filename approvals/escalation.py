"""The sweep of deadlines and levels: due ids without a lock, each then in a transaction of its own, under its lock."""

import logging
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from uuid import UUID

from django.db import connection

from approvals import flight, hands, ladder, requests
from approvals.known import Known
from tenants import broker, doors, locks
from tenants.scope import scope

logger = logging.getLogger(__name__)
BATCH = 400
SHARE = 50  # Read at once by one thread.
THREADS = 2  # Each with one connection: pages and steps want the others, and the processors.
MESSAGES = 20  # Of one thread; the runs of the others are announced by the sweep of runs.
PATIENCE = 5.0
_sweeping = Lock()
Due = tuple[UUID, UUID]


def sweep(limit: int = BATCH) -> int:
    """Handle what is due now, batch by batch for a few seconds; how many requests were looked at, each once.

    One that fails hinders no other. A process sweeps once at a time: what a second would do, this one does.
    """
    if not _sweeping.acquire(blocking=False):
        return 0
    try:
        return _sweep(limit)
    finally:
        _sweeping.release()


def _sweep(limit: int) -> int:
    shares = _Shares(limit)
    if shares.waiting:
        threads = min(THREADS, len(shares.waiting))
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(_sweeper, [shares] * threads))
    return len(shares.taken)


class _Shares:
    """What is due, handed out share by share for a few seconds; what was handed out does not come again."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.ends = time.monotonic() + PATIENCE
        self.taken: set[Due] = set()
        self.waiting: list[Sequence[Due]] = []
        self.over = False
        self.lock = Lock()
        self._read()

    def next(self) -> Sequence[Due]:
        """The next share; empty where there is none."""
        with self.lock:
            if not self.waiting and not self.over:
                self._read()
            return self.waiting.pop() if self.waiting else ()

    def _read(self) -> None:
        due = doors.due("requests", self.limit)
        fresh = [each for each in due if each not in self.taken]
        random.shuffle(fresh)  # Another process may have the same list: so that the two do not wait for each other.
        self.taken.update(fresh)
        self.waiting = [fresh[first : first + SHARE] for first in range(0, len(fresh), SHARE)]
        self.over = not fresh or len(due) < self.limit or time.monotonic() > self.ends


def _sweeper(shares: _Shares) -> None:
    """One thread, on one connection for the whole sweep: a fresh one would have all statements to plan anew."""
    known = Known()
    try:
        with broker.at_most(MESSAGES):
            while share := shares.next():
                handle_together(share, known)
    finally:
        connection.close()


def handle_together(share: Sequence[Due], known: Known | None = None) -> None:
    """Look at many requests, each as `handle` does, as far as can be told beforehand what they come to."""
    known = known or Known()
    for tenant, request_id in _alone(share, known):
        _handled_alone(tenant, request_id, known)


def _alone(share: Sequence[Due], known: Known) -> list[Due]:
    """Handle each tenant's together; those that have to be handled alone."""
    found: list[Due] = []
    for tenant in dict.fromkeys(tenant for tenant, _request in share):
        keys = [request for of, request in share if of == tenant]
        found += [(tenant, key) for key in _flown(tenant, keys, known)]
    return found


def _flown(tenant: UUID, keys: Sequence[UUID], known: Known) -> Sequence[UUID]:
    try:
        return flight.done(flight.plans(tenant, keys, known))
    except Exception:
        logger.exception("Requests of %s could not be handled together; each is handled alone.", tenant)
        connection.close()
        return keys


def _handled_alone(tenant: UUID, request_id: UUID, known: Known) -> None:
    try:
        handle(tenant, request_id, known)
    except Exception:
        logger.exception("Request %s could not be looked at; the next sweep tries again.", request_id)
        connection.close()  # It may be broken; the next one gets a living one.


def handle(tenant: UUID, request_id: UUID, known: Known | None = None) -> None:
    """Look at one request: end it if its deadline has come, else climb as far as is due.

    `known` is what was read for the others of its tenant.
    """
    known = known or Known()
    with scope(tenant):
        locks.patiently()
        if requests.lapse(request_id) == "early":
            row = hands.read(request_id)
            ladder.climb(row.request, known.people(row), known.asking(row))
