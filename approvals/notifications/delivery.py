"""Sending what is due: claimed in a commit, sent outside of any transaction, recorded in another.

A process that dies between sending and recording leaves a claim that lapses, and the message is sent once more: at
least once, under the same id (`Message-ID`, `webhook-id`), by which a receiver knows it again.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock, Thread
from uuid import UUID

from django.db import connection

from approvals import clock
from approvals.models import Delivery
from approvals.notifications import health, outbox, parcels, timing, ways
from approvals.notifications.chat import MOST_AT_ONCE, Words
from approvals.notifications.failures import MOST_ATTEMPTS, Failure, pause
from approvals.notifications.parcels import Parcel
from approvals.story import tell, tell_of_step
from tenants import doors, locks
from tenants.actors import SYSTEM
from tenants.scope import scope

__all__ = ["Claimed", "Failure", "claim", "record", "sweep"]

logger = logging.getLogger(__name__)
BATCH = 100
THREADS = 8
MAIL = "email"
PATIENCE = 5.0
CLAIM = timedelta(seconds=120)
_lock = Lock()
_in_hand: set[str] = set()


@dataclass(frozen=True)
class Claimed:
    """A delivery that this process sends now; `others` leave in the same message."""

    tenant: UUID
    id: UUID
    attempt: int
    parcel: Parcel
    others: dict[UUID, int] = field(default_factory=dict)


def sweep(limit: int = BATCH, *, patience: float | None = None) -> int:
    """Send what is due now, batch by batch for a few seconds; how many deliveries were looked at.

    One that fails hinders no other. What goes the same way out goes one after the other, and a process has each way
    in hand once: a far side that hangs holds one thread and delays itself alone. Those that are slower than `patience`
    seconds go on by themselves; without it they are waited for.
    """
    ends = time.monotonic() + PATIENCE
    looked = 0
    while due := doors.due_in_lanes("messages", limit, among=outbox.KINDS):
        threads = [_start(name, lane) for name, lane in _free(due).items()]
        for thread in threads:
            thread.join(patience)
        looked += len(due) if threads else 0
        if not threads or len(due) < limit or time.monotonic() > ends:
            break
    return looked


def _free(due: Sequence[tuple[UUID, UUID, str]]) -> dict[str, list[tuple[UUID, UUID]]]:
    """What is due by lane, of the lanes that are in nobody's hand; from now on they are in ours."""
    lanes: dict[str, list[tuple[UUID, UUID]]] = {}
    for tenant, delivery_id, lane in due:
        lanes.setdefault(lane, []).append((tenant, delivery_id))
    with _lock:
        free = [name for name in lanes if name not in _in_hand]
        mail = [name for name in free if name == MAIL]  # Never kept waiting by others that hang.
        names = mail + [name for name in free if name != MAIL][: max(THREADS - len(_in_hand), 0)]
        _in_hand.update(names)
    return {name: lanes[name] for name in names}


def _start(name: str, lane: list[tuple[UUID, UUID]]) -> Thread:
    """A thread that ends with its process: what it had claimed is sent again when the claim lapses."""
    thread = Thread(target=_threaded, args=(name, lane), name=f"lane {name}", daemon=True)
    thread.start()
    return thread


def _threaded(name: str, lane: list[tuple[UUID, UUID]]) -> None:
    try:
        _lane(lane)
    finally:
        connection.close()
        with _lock:
            _in_hand.discard(name)


def _lane(lane: Sequence[tuple[UUID, UUID]]) -> None:
    waiting = list(reversed(lane))
    while waiting:
        try:
            silent = _some(waiting)
        except Exception:
            logger.exception("A delivery failed; its claim lapses and it is tried again.")
            continue
        if silent:
            return  # Nobody answers there; the rest of the lane waits for a later sweep.


def _some(waiting: list[tuple[UUID, UUID]]) -> bool:
    """Send the next of a lane, or the next few where they leave through one process; whether nobody answered."""
    claimed = _claimed(waiting, most=1)
    if claimed and isinstance(claimed[0].parcel, Words):
        claimed += _claimed(waiting, most=MOST_AT_ONCE - 1)
    connection.close()  # Nobody waits for a connection that waits for the far side.
    failures = parcels.send([each.parcel for each in claimed])
    for each, failure in zip(claimed, failures, strict=True):
        record(each, failure)
    return any(failure is not None and failure.silent for failure in failures)


def _claimed(waiting: list[tuple[UUID, UUID]], *, most: int) -> list[Claimed]:
    found: list[Claimed] = []
    while waiting and len(found) < most:
        taken = claim(*waiting.pop())
        if taken:
            found.append(taken)
    return found


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
    if row.kind == outbox.DECIDED and not _follows(row):
        return False
    why = health.closed(row)
    if why:
        _end(row, "given_up", why)
    elif row.channel and row.channel.not_before and row.channel.not_before > clock.now() and row.kind != "test":
        row.due_at = row.channel.not_before
        row.save(update_fields=["due_at"])
        return False
    return not why


def _follows(row: Delivery) -> bool:
    """Whether a channel is to hear now how a request ended: only where it was told of it, and a member's own when they
    wish it."""
    if not outbox.told_of(row.request_id).filter(channel=row.channel_id).exists():
        _end(row, "given_up", outbox.NOT_NEEDED)
        return False
    if row.member_id is None or row.bundled or row.attempts:
        return True
    ears = ways.ears([row.member_id], ways.read())
    at = timing.leaves_at(clock.now(), ears[0].wish) if ears else None
    if at is None:
        return True
    row.due_at, row.bundled = at, ears[0].wish.digest != "none"
    row.save(update_fields=["due_at", "bundled"])
    return False


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
    """Write what came of a claimed delivery; what concerns people, with its event on its subject.

    One that was purged meanwhile, with what it was about, leaves nothing.
    """
    channel = None
    for delivery_id, attempt in {claimed.id: claimed.attempt, **claimed.others}.items():
        with scope(claimed.tenant):
            row = _locked(delivery_id)
            if row is not None and row.status == "sending" and row.attempts == attempt:
                _record(row, failure)
                channel = row.channel_id
    if channel:
        health.note(claimed.tenant, channel, failure)


def _locked(delivery_id: UUID) -> Delivery | None:
    """The delivery as it is under the lock of what it tells people of; None where it has left."""
    rows = Delivery.objects.filter(pk=delivery_id)
    row = rows.select_related("request").first()
    if row is None:
        return None
    if row.transport != "webhook" and (about := row.request.subject if row.request else row.subject):
        locks.hold(about)
    return rows.select_for_update(of=("self",)).select_related("request", "channel").first()


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
    if row.transport == "webhook":
        return
    data = {"delivery": str(row.pk), "kind": row.kind, "member": str(row.member_id), "error": row.error}
    if row.request:
        tell(row.request, name, actor=SYSTEM, message=message, data=data)
    elif row.kind == outbox.UNKNOWN:
        tell_of_step(row.subject, row.seq or 0, name, actor=SYSTEM, message=message, data=data)


def _whom(row: Delivery) -> str:
    return row.address if row.channel is None else row.channel.name
