"""How the API shows channels, deliveries and the people of a chat service; no secret but the one told once."""

from typing import Any

from approvals.models import WEBHOOK, Channel, ChannelPerson, Delivery
from approvals.notifications import outbox

Shape = dict[str, Any]


def one(row: Channel, *, secret: str | None = None) -> Shape:
    """A webhook or chat channel; of a chat channel's URL only the kind is told."""
    about: Shape = {"url": row.shown_url, "events": list(row.events)} if row.kind == WEBHOOK else {"kind": row.kind}
    if row.kind != WEBHOOK and row.member_id is None:
        about["kinds"] = list(outbox.FOR_ROOMS if row.kinds is None else row.kinds)
    shape = {
        "id": row.pk,
        "name": row.name,
        **about,
        "enabled": row.enabled,
        "off_because": row.off_because or None,
        "failures": row.failures,
        "failing_since": row.failing_since,
        "last_error": row.last_error or None,
        "created_at": row.created_at,
    }
    return shape if secret is None else {**shape, "secret": secret}


def person(row: ChannelPerson) -> Shape:
    """Who a person of the service is here."""
    member = {"id": row.member_id, "name": row.member.name, "email": row.member.email}
    return {"id": row.pk, "external_id": row.external_id, "member": member, "created_at": row.created_at}


def delivery(row: Delivery) -> Shape:
    """A delivery and what has come of it; `message` is the id it carries outside."""
    return {
        "id": row.pk,
        "message": f"msg_{(row.origin or row.pk).hex}",
        "kind": row.kind,
        "transport": row.transport,
        "to": row.channel.name if row.channel else row.address,
        "channel": row.channel_id,
        "member": row.member_id,
        "request": row.request_id,
        "subject": row.subject or None,
        "seq": row.seq,
        "status": row.status,
        "attempts": row.attempts,
        "error": row.error or None,
        "next_at": row.due_at if row.status == "pending" else None,
        "created_at": row.created_at,
        "sent_at": row.sent_at,
    }
