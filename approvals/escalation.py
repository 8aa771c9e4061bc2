"""The sweep of deadlines and levels: due ids without a lock, each then alone, under its own."""

import logging
import random
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from uuid import UUID

from django.db import connection

from approvals import hands, ladder, requests
from approvals.known import Known
from tenants import broker, doors
from tenants.scope import scope

logger = logging.getLogger(__name__)
BATCH = 200
THREADS = 4
MESSAGES = 5  # Of one thread in one batch; the runs of the others are announced by the sweep of runs.
PATIENCE = 5.0
_sweeping = Lock()


def sweep(limit: int = BATCH) -> int:
    """Handle what is due now, batch by batch for a few seconds; how many requests were looked at.

    One that fails hinders no other. A process sweeps once at a time: what a second would do, this one does.
    """
    if not _sweeping.acquire(blocking=False):
        return 0
    try:
        return _sweep(limit)
    finally:
        _sweeping.release()


def _sweep(limit: int) -> int:
    ends = time.monotonic() + PATIENCE
    looked = 0
    while due := doors.due("requests", limit):
        random.shuffle(due)  # Another process may have the same list: so that the two do not wait for each other.
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(_handled, [due[place::THREADS] for place in range(THREADS)]))
        looked += len(due)
        if len(due) < limit or time.monotonic() > ends:
            break
    return looked


def _handled(share: list[tuple[UUID, UUID]]) -> None:
    """One thread's share of a batch, on one connection."""
    known = Known()
    try:
        with broker.at_most(MESSAGES):
            for tenant, request_id in share:
                _handled_alone(tenant, request_id, known)
    finally:
        connection.close()


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
        if requests.lapse(request_id) == "early":
            row = hands.read(request_id)
            ladder.climb(row.request, known.people(row), known.asking(row))
