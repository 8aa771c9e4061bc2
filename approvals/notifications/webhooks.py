"""What a webhook is sent: the event in few words, signed as Standard Webhooks says, under the same id each time."""

import base64
import secrets
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from standardwebhooks import Webhook

from approvals.models import Channel, Delivery
from tenants import exact_json
from tenants.models import Event
from tenants.secrets import reveal

PREFIX = "whsec_"
TOLD = frozenset(
    {"request", "step", "version", "decision", "level", "because", "tool", "risk", "deadline", "round", "by"}
    | {"supersedes", "digest", "reason", "outcome", "status", "number", "attempt", "kind", "delivery", "channel", "at"}
)
"""What of an event's data leaves the house: names, numbers and states, never arguments, reasons or results."""


def new_secret() -> str:
    """A secret for signing: 32 random bytes in base 64 after `whsec_`."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def payload(event: Event, *, tenant: str) -> str:
    """The body: `{type, timestamp, data}`."""
    about, _colon, key = event.subject.partition(":")
    data: dict[str, Any] = {"tenant": tenant, "subject": event.subject, "seq": event.seq}
    data |= {about: key} if about in ("run", "channel") else {}
    data |= {name: value for name, value in event.data.items() if name in TOLD}
    data["actor"] = {name: event.actor.get(name) for name in ("kind", "id", "name")}
    at = event.at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return exact_json.dumps({"type": event.name, "timestamp": at, "data": data})


def trial(delivery: Delivery, *, tenant: str) -> str:
    """The body of a test."""
    at = delivery.created_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return exact_json.dumps({"type": "webhook.test", "timestamp": at, "data": {"tenant": tenant}})


def headers(channel: Channel, *, message: UUID, body: str, now: datetime) -> dict[str, str]:
    """The id, the time and the signatures: two for a while after the secret was changed."""
    keys = [reveal(channel.secret)]
    if channel.former_secret and channel.former_until and channel.former_until > now:
        keys.append(reveal(channel.former_secret))
    signed = [Webhook(key).sign(msg_id=f"msg_{message.hex}", timestamp=now, data=body) for key in keys]
    return {
        "content-type": "application/json",
        "webhook-id": f"msg_{message.hex}",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signed),
    }
