"""What people are to be told: rows written in the transaction that gives the reason, each told once."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from approvals import clock
from approvals.models import ApprovalRequest, Channel, Delivery
from approvals.notifications import unsettled, ways
from approvals.notifications.timing import leaves_at
from approvals.notifications.ways import Ear, Ways
from tenants import ids, prepared
from tenants.models import Member
from tenants.scope import current

ASKED, AGAIN, CLOSING, LAPSED, ENDED, NOBODY, UNREADABLE = (
    "asked",
    "asked_again",
    "closing_soon",
    "vote_lapsed",
    "ended",
    "nobody_left",
    "not_evaluable",
)
CHANNEL_OFF, TEST, DECIDED, UNKNOWN = "channel_off", "test", "decided", "outcome_unknown"
KINDS = (ASKED, AGAIN, CLOSING, LAPSED, ENDED, NOBODY, UNREADABLE, CHANNEL_OFF, TEST, DECIDED, UNKNOWN)
"""All that this release has words for; what another one adds waits for a process of its own."""
NOT_NEEDED = "no longer needed"
ABOUT_OPEN = (ASKED, AGAIN, CLOSING, LAPSED, NOBODY, UNREADABLE)
ASKING = (ASKED, AGAIN, CLOSING)
URGENT = (AGAIN, CLOSING, NOBODY, UNREADABLE, UNKNOWN)
"""What waits for no digest and no quiet hour, as does whatever a raised level or a critical risk brings."""
FOR_ROOMS = (ASKED, AGAIN, CLOSING, NOBODY, UNREADABLE, DECIDED)
Rows = QuerySet[Delivery]


def tell(request: ApprovalRequest, kind: str, members: Iterable[UUID], *, mark: str = "") -> None:
    """Let each member be told of this once; `mark` tells apart what may come more than once (a level, a version).

    Chat channels that belong to nobody hear it too, once a level. Writes nothing where there is no way out.
    """
    wanted = list(dict.fromkeys(members))
    out = ways.read() if wanted else None
    if out is None or not out.any:
        return
    _insert(rows(request, kind, ways.ears(wanted, out), out, mark=mark))


def rows(request: ApprovalRequest, kind: str, ears: Iterable[Ear], out: Ways, *, mark: str = "") -> list[Delivery]:
    """What `tell` writes where these are told, by these ways."""
    key = f"{request.pk}:{kind}:{mark}"
    found = [row for ear in ears for row in _rows(request, kind, key, ear)]
    if kind in FOR_ROOMS:
        found += [_row(request, kind, f"room:{key}:{request.rung}", channel=room) for room in out.rooms_that_hear(kind)]
    return found


def packed(rows: Iterable[Delivery]) -> list[dict[str, Any]]:
    """Planned deliveries as `request_tell` takes them; what leaves at once has no time."""
    return [
        {
            "id": str(row.pk),
            "member_id": prepared.text(row.member_id),
            "channel_id": prepared.text(row.channel_id),
            "kind": row.kind,
            "key": row.key,
            "transport": row.transport,
            "address": row.address,
            "due_at": row.due_at.isoformat() if isinstance(row.due_at, datetime) else None,
            "bundled": row.bundled,
        }
        for row in rows
    ]


def told_of(request: ApprovalRequest | UUID | None) -> Rows:
    """What has been said in chat about the request while it was open, and what is being said now."""
    rows = Delivery.objects.filter(request=request, transport="chat", status__in=("sending", "sent"))
    return rows.filter(kind__in=ABOUT_OPEN)


def tell_admins(request: ApprovalRequest, kind: str, *, mark: str = "") -> None:
    """Let the tenant's admins be told of this once."""
    tell(request, kind, admins(), mark=mark)


def tell_of_channel(channel: Channel) -> None:
    """Let those be told who can see to a channel that was switched off: its owner, else the admins; by mail."""
    out = ways.read()
    if not out.email:
        return
    people = [channel.member_id] if channel.member_id else admins()
    key = f"channel:{channel.pk}:off:{channel.failing_since}"
    found = ways.ears(people, out)
    _insert([_row(None, CHANNEL_OFF, key, member=ear.member, channel=None) for ear in found])


def tell_of_outcome(subject: str, step: int, members: Iterable[UUID], *, mark: str) -> None:
    """Let each member be told once that nobody knows whether this step of the subject happened; `mark` tells apart the
    times it became so. Writes nothing where there is no way out."""
    wanted = list(dict.fromkeys(members))
    out = ways.read() if wanted else None
    if out is None or not out.any:
        return
    key = unsettled.key(subject, step, mark=mark)
    found = [row for ear in ways.ears(wanted, out) for row in _rows(None, UNKNOWN, key, ear)]
    for row in found:
        row.subject, row.seq = subject, step
    _insert(found)


def try_mail(member: Member) -> Delivery:
    """Put a test to the member's own address into the outbox."""
    row = _row(None, TEST, f"test:{ids.new()}", member=member)
    row.due_at = clock.now()
    row.save(force_insert=True)
    return row


def reached(request: ApprovalRequest) -> bool:
    """Whether a message that asks somebody has been taken by a mail server or a chat service."""
    asking = Delivery.objects.filter(request=request, status="sent", kind__in=ASKING)
    return asking.exclude(transport="webhook").exists()


def closing_at(request: ApprovalRequest) -> datetime:
    """When those who are asked are reminded that the deadline is near: after nine tenths of the time."""
    return request.opened_at + (request.deadline - request.opened_at) * 0.9


def admins() -> list[UUID]:
    """The tenant's admins; one query."""
    return list(Member.objects.filter(active=True, roles__contains=["admin"]).values_list("pk", flat=True))


def _rows(request: ApprovalRequest | None, kind: str, key: str, ear: Ear) -> list[Delivery]:
    """One member's deliveries, by each way they want."""
    ways_out: list[UUID | None] = [None] if ear.email and ear.wish.hears(kind, "email") else []
    ways_out += ear.channels if ear.wish.hears(kind, "chat") else []
    rows = [_row(request, kind, key, member=ear.member, channel=each) for each in ways_out]
    plain = not (ear.wish.quiet or ear.wish.digest != "none")
    if not rows or plain or request is None or _is_urgent(request, kind):
        return rows
    at = leaves_at(clock.now(), ear.wish)
    if at is None or (request.status == "pending" and at >= closing_at(request)):
        return rows
    for row in rows:
        row.due_at, row.bundled = at, ear.wish.digest != "none"
    return rows


def _is_urgent(request: ApprovalRequest, kind: str) -> bool:
    return kind in URGENT or (request.status == "pending" and (request.rung > 0 or request.risk == "critical"))


def _row(
    request: ApprovalRequest | None,
    kind: str,
    key: str,
    *,
    member: Member | None = None,
    channel: UUID | None = None,
) -> Delivery:
    address = str(channel) if channel or member is None else member.email
    return Delivery(
        tenant_id=current(),
        request=request,
        member=member,
        channel_id=channel,
        kind=kind,
        key=key,
        transport="chat" if channel else "email",
        address=address,
        due_at=Now(),
    )


def _insert(rows: Sequence[Delivery]) -> None:
    if rows:
        Delivery.objects.bulk_create(rows, ignore_conflicts=True)
