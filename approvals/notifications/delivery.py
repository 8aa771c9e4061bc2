"""Sending what is due: claimed in a commit, sent outside of any transaction, recorded in another.

A process that dies between sending and recording leaves a claim that lapses, and the message is sent once more: at
least once, under the same id (`Message-ID`, `webhook-id`), by which a receiver knows it again.
"""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from uuid import UUID

from django.db import connection

from approvals import clock
from approvals.models import Delivery
from approvals.notifications import health, outbox, parcels
from approvals.notifications.failures import MOST_ATTEMPTS, Failure, pause
from approvals.notifications.parcels import Parcel
from approvals.story import tell
from tenants import doors, locks
from tenants.actors import SYSTEM
from tenants.scope import scope

__all__ = ["Claimed", "Failure", "claim", "record", "sweep"]

logger = logging.getLogger(__name__)
BATCH = 100
THREADS = 4
PATIENCE = 5.0
CLAIM = timedelta(seconds=120)
_sweeping = Lock()


@dataclass(frozen=True)
class Claimed:
    """A delivery that this process sends now; `others` leave in the same message."""

    tenant: UUID
    id: UUID
    attempt: int
    parcel: Parcel
    others: dict[UUID, int] = field(default_factory=dict)


def sweep(limit: int = BATCH) -> int:
    """Send what is due now, batch by batch for a few seconds; how many deliveries were looked at.

    One that fails hinders no other. A process sweeps once at a time, so that a far side that hangs holds one of its
    threads at the most.
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
    while due := doors.due_in_lanes("parcels", limit):
        looked += len(due)
        lanes: dict[str, list[tuple[UUID, UUID]]] = {}
        for tenant, delivery_id, lane in due:
            lanes.setdefault(lane, []).append((tenant, delivery_id))
        _all(list(lanes.values()))
        if len(due) < limit or time.monotonic() > ends:
            break
    return looked


def _all(lanes: Sequence[list[tuple[UUID, UUID]]]) -> None:
    """Each lane by itself: one that is slow delays itself alone."""
    if len(lanes) == 1:
        _lane(lanes[0])
        return
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(_threaded, lanes))


def _threaded(lane: list[tuple[UUID, UUID]]) -> None:
    try:
        _lane(lane)
    finally:
        connection.close()


def _lane(lane: Sequence[tuple[UUID, UUID]]) -> None:
    for tenant, delivery_id in lane:
        try:
            failure = _one(tenant, delivery_id)
        except Exception:
            logger.exception("Delivery %s failed; its claim lapses and it is tried again.", delivery_id)
            continue
        if failure and failure.silent:
            return  # Nobody answers there; the rest of the lane waits for a later sweep.


def _one(tenant: UUID, delivery_id: UUID) -> Failure | None:
    claimed = claim(tenant, delivery_id)
    if claimed is None:
        return None
    failure = parcels.send(claimed.parcel)
    record(claimed, failure)
    return failure


def claim(tenant: UUID, delivery_id: UUID) -> Claimed | None:
    """Claim a delivery in a commit of its own, or None where there is nothing to send now."""
    with scope(tenant):
        rows = Delivery.objects.select_for_update(skip_locked=True, of=("self",)).select_related(
            "request", "channel", "member__person"
        )
        due = rows.filter(status__in=("pending", "sending"), due_at__lte=clock.now())
        row = due.filter(pk=delivery_id).first()
        if row is None or not _wanted(row):
            return None
        others = [each for each in _bundle(due, row) if _wanted(each)]
        parcel = parcels.pack(row, others)
        if isinstance(parcel, str):
            _end(row, "given_up", parcel)
            return None
        for each in (row, *others):
            _take(each)
        return Claimed(tenant, row.pk, row.attempts, parcel, {each.pk: each.attempts for each in others})


def _wanted(row: Delivery) -> bool:
    """Whether it is still to be sent, and now; what is not ends or waits here."""
    if row.request and row.kind in outbox.ABOUT_OPEN and row.request.status != "pending" and not row.seq:
        _end(row, "given_up", outbox.NOT_NEEDED)
        return False
    why = health.closed(row)
    if why:
        _end(row, "given_up", why)
    elif row.channel and row.channel.not_before and row.channel.not_before > clock.now() and row.kind != "test":
        row.due_at = row.channel.not_before
        row.save(update_fields=["due_at"])
        return False
    return not why


def _bundle(due: "outbox.Rows", row: Delivery) -> list[Delivery]:
    """What else is due for this member's digest, the oldest first."""
    if not row.bundled:
        return []
    same = due.filter(member=row.member_id, transport=row.transport, channel=row.channel_id, bundled=True)
    return list(same.exclude(pk=row.pk).order_by("created_at", "id")[:BATCH])


def _take(row: Delivery) -> None:
    row.attempts += 1
    if row.status == "pending":
        row.status = "sending"
    row.claimed_until = row.due_at = clock.now() + CLAIM
    row.save(update_fields=["status", "attempts", "claimed_until", "due_at"])


def record(claimed: Claimed, failure: Failure | None) -> None:
    """Write what came of a claimed delivery; what concerns people, with its event on the request's subject."""
    channel = None
    for delivery_id, attempt in {claimed.id: claimed.attempt, **claimed.others}.items():
        with scope(claimed.tenant):
            row = Delivery.objects.select_related("request").get(pk=delivery_id)
            if row.request and row.transport != "webhook":
                locks.hold(row.request.subject)
            row = (
                Delivery.objects.select_for_update(of=("self",))
                .select_related("request", "channel")
                .get(pk=delivery_id)
            )
            if row.status == "sending" and row.attempts == attempt:
                _record(row, failure)
                channel = row.channel_id
    if channel:
        health.note(claimed.tenant, channel, failure)


def _record(row: Delivery, failure: Failure | None) -> None:
    if failure is None:
        _end(row, "sent", "")
        _tell(row, "notification.sent", f"Told {_whom(row)}")
    elif failure.final or row.kind == "test" or row.attempts >= MOST_ATTEMPTS[row.transport]:
        _end(row, "given_up", failure.why)
        _tell(row, "notification.failed", f"Could not tell {_whom(row)}: {failure.why}")
    else:
        _again(row, failure)


def _end(row: Delivery, status: str, error: str) -> None:
    row.status, row.error, row.due_at, row.claimed_until = status, error, None, None
    row.sent_at = clock.now() if status == "sent" else None
    row.save(update_fields=["status", "error", "due_at", "claimed_until", "sent_at"])


def _again(row: Delivery, failure: Failure) -> None:
    """Back to the outbox, later each time; the first failure is an event, so that people see it."""
    row.status, row.error, row.claimed_until = "pending", failure.why, None
    row.due_at = clock.now() + pause(row.attempts, failure.wait)
    row.save(update_fields=["status", "error", "claimed_until", "due_at"])
    if row.attempts == 1:
        _tell(row, "notification.failed", f"Could not tell {_whom(row)} yet: {failure.why}")


def _tell(row: Delivery, name: str, message: str) -> None:
    """An event about a message to people. One about a webhook's would be sent by webhook, and so on for ever."""
    if row.request and row.transport != "webhook":
        data = {"delivery": str(row.pk), "kind": row.kind, "member": str(row.member_id), "error": row.error}
        tell(row.request, name, actor=SYSTEM, message=message, data=data)


def _whom(row: Delivery) -> str:
    return row.address if row.channel is None else row.channel.name
