"""Sending what is due: claimed in a commit, sent outside of any transaction, recorded in another."""

import logging
import random
import smtplib
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.core.mail import EmailMultiAlternatives, get_connection

from approvals import clock
from approvals.models import Delivery
from approvals.notifications import messages, outbox
from approvals.story import tell
from tenants import doors, locks
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tenants.scope import current, scope

logger = logging.getLogger(__name__)
BATCH = 100
PATIENCE = 10
CLAIM = timedelta(seconds=120)
MOST_ATTEMPTS = 12
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 3600.0
NOT_NEEDED = "no longer needed"
_ABOUT_OPEN = (outbox.ASKED, outbox.AGAIN, outbox.CLOSING, outbox.LAPSED, outbox.NOBODY, outbox.UNREADABLE)


@dataclass(frozen=True)
class Claimed:
    """A delivery that this process sends now."""

    tenant: UUID
    id: UUID
    attempt: int
    message: EmailMultiAlternatives


def sweep(limit: int = BATCH) -> int:
    """Send what is due now; how many deliveries were looked at. One that fails hinders no other."""
    due = doors.due("deliveries", limit)
    for tenant, delivery_id in due:
        try:
            claimed = claim(tenant, delivery_id)
            if claimed:
                record(claimed, _send(claimed.message))
        except Exception:
            logger.exception("Delivery %s failed; its claim lapses and it is tried again.", delivery_id)
    return len(due)


def claim(tenant: UUID, delivery_id: UUID) -> Claimed | None:
    """Claim a delivery in a commit of its own, or None where there is nothing left to send."""
    with scope(tenant):
        rows = Delivery.objects.select_for_update(skip_locked=True, of=("self",)).select_related("request")
        row = rows.filter(pk=delivery_id, status__in=("pending", "sending"), due_at__lte=clock.now()).first()
        if row is None:
            return None
        if row.request and row.kind in _ABOUT_OPEN and row.request.status != "pending":
            _end(row, "given_up", NOT_NEEDED)
            return None
        row.attempts += 1
        if row.status == "pending":
            row.status = "sending"
        row.claimed_until = row.due_at = clock.now() + CLAIM
        row.save(update_fields=["status", "attempts", "claimed_until", "due_at"])
        return Claimed(tenant, row.pk, row.attempts, _message(row))


def record(claimed: Claimed, failure: "Failure | None") -> None:
    """Write what came of a claimed delivery, with its event on the request's subject."""
    with scope(claimed.tenant):
        row = Delivery.objects.select_related("request").get(pk=claimed.id)
        if row.request:
            locks.hold(row.request.subject)
        row = Delivery.objects.select_for_update(of=("self",)).select_related("request").get(pk=claimed.id)
        if row.status != "sending" or row.attempts != claimed.attempt:
            return
        if failure is None:
            _end(row, "sent", "")
            _tell(row, "notification.sent", f"Told {row.address}")
        elif failure.final or row.attempts >= MOST_ATTEMPTS:
            _end(row, "given_up", failure.why)
            _tell(row, "notification.failed", f"Could not tell {row.address}: {failure.why}")
        else:
            _again(row, failure.why)


@dataclass(frozen=True)
class Failure:
    """Why a message was not taken; `final` where the address itself was refused."""

    why: str
    final: bool = False


def _send(message: EmailMultiAlternatives) -> Failure | None:
    try:
        get_connection(timeout=PATIENCE).send_messages([message])
    except smtplib.SMTPRecipientsRefused as error:
        code, words = next(iter(error.recipients.values()))
        return Failure(f"{code} {_words(words)}"[:500], final=code >= 500)
    except smtplib.SMTPResponseException as error:
        return Failure(f"{error.smtp_code} {_words(error.smtp_error)}"[:500], final=error.smtp_code >= 500)
    except (OSError, smtplib.SMTPException) as error:
        return Failure(f"{type(error).__name__}: {error}"[:500])
    return None


def _words(said: bytes | str) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said


def _message(row: Delivery) -> EmailMultiAlternatives:
    assert row.member is not None
    return messages.build(row, member=row.member, tenant=Tenant.objects.get(pk=current()))


def _end(row: Delivery, status: str, error: str) -> None:
    row.status, row.error, row.due_at, row.claimed_until = status, error, None, None
    row.sent_at = clock.now() if status == "sent" else None
    row.save(update_fields=["status", "error", "due_at", "claimed_until", "sent_at"])


def _again(row: Delivery, why: str) -> None:
    """Back to the outbox, later each time; the first failure is an event, so that people see it."""
    ceiling = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (row.attempts - 1))
    pause = timedelta(seconds=ceiling * (0.5 + random.random() / 2))  # noqa: S311  Only spreads the load.
    row.status, row.error, row.claimed_until = "pending", why, None
    row.due_at = clock.now() + pause
    row.save(update_fields=["status", "error", "claimed_until", "due_at"])
    if row.attempts == 1:
        _tell(row, "notification.failed", f"Could not tell {row.address} yet: {why}")


def _tell(row: Delivery, name: str, message: str) -> None:
    if row.request:
        data = {"delivery": str(row.pk), "kind": row.kind, "member": str(row.member_id), "error": row.error}
        tell(row.request, name, actor=SYSTEM, message=message, data=data)
