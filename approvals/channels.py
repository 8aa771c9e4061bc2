"""Webhooks and chat channels as admins keep them: made, changed, tried, ended; what is secret is told once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from approvals import clock, errors
from approvals.models import WEBHOOK, Channel, Delivery
from approvals.notifications import guard, outbox, posting, webhooks
from tenants import audit, ids, naming
from tenants.actors import Actor
from tenants.event_names import NAMES
from tenants.models import Member
from tenants.refusals import not_found
from tenants.scope import current
from tenants.secrets import conceal

OVERLAP = timedelta(hours=24)
MOST_URL = 2000
BY_HAND = "by hand"
_BY_OPERATOR = "OUTBOUND_NETWORKS=127.0.0.1/32"  # As the operator would write it for a receiver on the same machine.
_UNVERIFIED = re.compile(r"(?:^|[?&])\s*verify\s*(?:[=&]|$)", re.IGNORECASE)  # As apprise reads it, behind a `#` too.
SCHEMES: Mapping[str, tuple[str, ...]] = {
    "slack": ("slack", "https"),
    "teams": ("workflows", "workflow", "msteams", "https"),
    "discord": ("discord", "https"),
    "telegram": ("tgram",),
    "googlechat": ("gchat", "https"),
    "mattermost": ("mmosts", "mmost"),
    "rocketchat": ("rockets", "rocket"),
    "matrix": ("matrixs", "matrix"),
    "zulip": ("zulip",),
    "whatsapp": ("whatsapp",),
    "signal": ("signals", "signal"),
    "ntfy": ("ntfys", "ntfy", "https"),
    "pushover": ("pover",),
    "json": ("jsons", "json"),
}
"""The chat services there are and how their URLs begin, as apprise writes them. `json` is a service of one's own."""


@dataclass(frozen=True)
class Made:
    """A channel and the secret that is told this once."""

    channel: Channel
    secret: str


def every(*, webhooks_only: bool) -> list[Channel]:
    """The webhooks, or the chat channels of the tenant, by name."""
    rows = Channel.objects.filter(archived_at=None, member=None)
    rows = rows.filter(kind=WEBHOOK) if webhooks_only else rows.exclude(kind=WEBHOOK)
    return list(rows.order_by("name", "id"))


def found(channel_id: UUID, *, webhook: bool, read_only: bool = False) -> Channel:
    """The tenant's webhook or chat channel of this id, locked unless it is only read; raises Refusal 404."""
    rows = _rows(read_only=read_only).filter(pk=channel_id)
    return _one(rows.filter(kind=WEBHOOK) if webhook else rows.exclude(kind=WEBHOOK))


def named(name: str, *, read_only: bool = False) -> Channel:
    """The tenant's chat channel of this name, locked unless it is only read; raises Refusal 404."""
    return _one(_rows(read_only=read_only).filter(name=name).exclude(kind=WEBHOOK))


def add_webhook(*, actor: Actor, url: Any, events: Any, name: str = "", channel: str = "") -> Made:
    """A webhook that is told these events from now on. Raises Refusal 422."""
    parts, wrong = _webhook_url(url)
    wanted, unknown = _events(events)
    if wrong or unknown:
        raise errors.fields([*wrong, *unknown])
    assert parts is not None
    values = {"kind": WEBHOOK, "events": wanted, "shown_url": _origin(parts, path=True)}
    return _add(actor=actor, url=str(url), name=name or str(parts.hostname), channel=channel, values=values)


def add_chat(*, actor: Actor, kind: Any, name: Any, url: Any, channel: str = "", **about: Any) -> Made:
    """A channel of a chat service; with `member` that person's own, else a room that hears `kinds` of notice, all that
    there are for rooms where none are given. Raises Refusal 422."""
    kinds, unknown = _kinds(about.get("kinds"))
    wrong = [*_wrong_kind(kind, url), *_wrong_name(name), *unknown]
    if wrong:
        raise errors.fields(wrong)
    if Channel.objects.filter(name=name, archived_at=None).exclude(kind=WEBHOOK).exists():
        raise errors.field("name", _("There is a channel of this name already."), code="name_taken")
    values = {"kind": kind, "shown_url": f"{kind}://…", "member": about.get("member"), "kinds": kinds}
    return _add(actor=actor, url=str(url), name=str(name), channel=channel, values=values)


def change(row: Channel, *, actor: Actor, changes: Mapping[str, Any], channel: str = "") -> Channel:
    """Another URL, other events or kinds of notice, on or off; switched on again it begins without its failures.
    Raises Refusal 422."""
    wrong = _changed_url(row, changes.get("url")) if changes.get("url") is not None else []
    if changes.get("events") is not None:
        row.events, unknown = _events(changes["events"])
        wrong = [*wrong, *unknown]
    if changes.get("kinds") is not None:
        row.kinds, unknown = _kinds(changes["kinds"])
        wrong = [*wrong, *unknown]
    if wrong:
        raise errors.fields(wrong)
    if changes.get("enabled") is not None:
        _switch(row, on=bool(changes["enabled"]))
    row.save()
    detail = {"name": row.name, "enabled": row.enabled, "events": list(row.events), "url": "url" in changes}
    detail |= {"kinds": row.kinds} if row.kinds is not None else {}
    audit.record("channel.changed", actor=actor, target=f"channel:{row.pk}", detail=detail, channel=channel)
    return row


def rotate(row: Channel, *, actor: Actor, channel: str = "") -> Made:
    """A new secret; the former one signs, or opens the callback door, as well for 24 hours."""
    secret = webhooks.new_secret()
    row.former_secret, row.former_until = row.secret, clock.now() + OVERLAP
    row.secret = conceal(secret)
    row.save(update_fields=["secret", "former_secret", "former_until"])
    audit.record("channel.secret_changed", actor=actor, target=f"channel:{row.pk}", detail={}, channel=channel)
    return Made(row, secret)


def remove(row: Channel, *, actor: Actor, channel: str = "") -> None:
    """End a channel: its URL and secrets are gone, its deliveries stay to be read."""
    row.archived_at, row.enabled = clock.now(), False
    row.url = row.secret = row.former_secret = ""
    row.save()
    detail = {"name": row.name, "kind": row.kind}
    audit.record("channel.removed", actor=actor, target=f"channel:{row.pk}", detail=detail, channel=channel)


def trial(row: Channel, *, actor: Actor, channel: str = "") -> Delivery:
    """Put a test into the outbox; a channel that is off is tried too."""
    transport = "webhook" if row.kind == WEBHOOK else "chat"
    sent = Delivery.objects.create(
        tenant_id=current(),
        channel=row,
        kind="test",
        key=f"test:{ids.new()}",
        transport=transport,
        address=str(row.pk),
        due_at=clock.now(),
    )
    audit.record("channel.tested", actor=actor, target=f"channel:{row.pk}", detail={}, channel=channel)
    return sent


def own(member: Member) -> list[Channel]:
    """The member's own chat channels, by name."""
    return list(Channel.objects.filter(member=member, archived_at=None).order_by("name", "id"))


def own_one(member: Member, channel_id: UUID) -> Channel:
    """The member's own chat channel of this id; raises Refusal 404."""
    return _one(Channel.objects.select_for_update(no_key=True).filter(member=member, archived_at=None, pk=channel_id))


def _add(*, actor: Actor, url: str, name: str, channel: str, values: Mapping[str, Any]) -> Made:
    secret = webhooks.new_secret()
    row = Channel.objects.create(
        tenant_id=current(), name=naming.demand(name)[:100], url=conceal(url), secret=conceal(secret), **values
    )
    detail = {"kind": row.kind, "name": row.name, "events": list(row.events), "own": row.member_id is not None}
    audit.record("channel.created", actor=actor, target=f"channel:{row.pk}", detail=detail, channel=channel)
    return Made(row, secret)


def _rows(*, read_only: bool) -> QuerySet[Channel]:
    rows = Channel.objects.filter(archived_at=None, member=None)
    return rows if read_only else rows.select_for_update(no_key=True)


def _one(rows: Any) -> Channel:
    row: Channel | None = rows.first()
    if row is None:
        raise not_found(_("There is no such channel."))
    return row


def _switch(row: Channel, *, on: bool) -> None:
    row.enabled = on
    row.off_because = "" if on else BY_HAND
    row.failures, row.failing_since, row.not_before = 0, None, None


def _changed_url(row: Channel, url: Any) -> list[dict[str, str]]:
    if row.kind == WEBHOOK:
        parts, wrong = _webhook_url(url)
        row.shown_url = _origin(parts, path=True) if parts else ""
    else:
        wrong = _wrong_kind(row.kind, url)
    row.url = conceal(str(url))
    return wrong


def _events(events: Any) -> tuple[list[str], list[dict[str, str]]]:
    if not isinstance(events, Sequence) or isinstance(events, str) or not events:
        return [], [{"field": "events", "message": _("Choose at least one event.")}]
    unknown = sorted({str(each) for each in events} - set(NAMES))
    if unknown:
        words = {"names": ", ".join(unknown)[:200]}
        return [], [{"field": "events", "message": _("There is no such event: %(names)s.") % words}]
    return [name for name in NAMES if name in events], []


def _kinds(kinds: Any) -> tuple[list[str] | None, list[dict[str, str]]]:
    if kinds is None:
        return None, []
    if not isinstance(kinds, Sequence) or isinstance(kinds, str) or not kinds:
        return None, [
            {"field": "kinds", "message": _("Choose at least one kind of notice, or switch the channel off.")}
        ]
    unknown = sorted({str(each) for each in kinds} - set(outbox.FOR_ROOMS))
    if unknown:
        message = _("There is no such kind of notice: %(name)s.") % {"name": ", ".join(unknown)[:200]}
        return None, [{"field": "kinds", "message": message}]
    return [kind for kind in outbox.FOR_ROOMS if kind in kinds], []


def _webhook_url(url: Any) -> tuple[SplitResult | None, list[dict[str, str]]]:
    parts = _parts(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or not _is_host(parts.netloc):
        return None, [{"field": "url", "message": _("An address that begins with https:// is wanted.")}]
    if parts.scheme == "http" and not posting.allowed():
        words = _(
            "Without https nobody could trust what arrives. "
            "Use https, or have the operator allow an inner network: %(how)s."
        )
        return None, [{"field": "url", "message": words % {"how": _BY_OPERATOR}}]
    return (None, [_inside()]) if _leads_inside(parts.hostname) else (parts, [])


def _wrong_kind(kind: Any, url: Any) -> list[dict[str, str]]:
    if not isinstance(kind, str) or kind not in SCHEMES:
        words = {"kinds": ", ".join(SCHEMES)}
        return [{"field": "kind", "message": _("This is none of %(kinds)s.") % words}]
    parts = _parts(url)
    if parts is None or parts.scheme not in SCHEMES[kind] or not parts.netloc:
        words = {"schemes": ", ".join(f"{each}://" for each in SCHEMES[kind])}
        return [{"field": "url", "message": _("An address that begins with %(schemes)s is wanted.") % words}]
    if _UNVERIFIED.search(unquote(str(url).partition("?")[2])):
        message = _("Whoever answers there has to show who they are: leave “verify” out.")
        return [{"field": "url", "message": message}]
    return [_inside()] if parts.hostname and _leads_inside(parts.hostname) else []


def _wrong_name(name: Any) -> list[dict[str, str]]:
    if not isinstance(name, str) or not 0 < len(name) <= 100 or not name.isascii() or not _plain(name):
        message = _("A name is made of letters, digits, dots, dashes and underscores: it stands in an address.")
        return [{"field": "name", "message": message}]
    return []


def _plain(name: str) -> bool:
    return all(each.isalnum() or each in "._-" for each in name) and name.strip(".") != ""


def _parts(url: Any) -> SplitResult | None:
    if not isinstance(url, str) or len(url) > MOST_URL or not url.isascii() or not url.isprintable() or " " in url:
        return None
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _is_host(netloc: str) -> bool:
    """Whether it is a host, perhaps with a port, and names no user."""
    port = netloc.rpartition("]")[2].partition(":")[2]
    return "@" not in netloc and (port.isdecimal() or not port) and int(port or 1) in range(1, 65536)


def _leads_inside(host: str) -> bool:
    """Whether it can be seen without asking anybody: the rest is seen when it is called."""
    name = host.removesuffix(".")
    written = "127.0.0.1" if name == "localhost" or name.endswith(".localhost") else name
    address = guard.literal(written)
    return address is not None and not (guard.is_open(address) or guard.is_named(address, posting.allowed()))


def _inside() -> dict[str, str]:
    words = _("This leads to an address inside. The operator would have to allow its network, such as %(how)s.")
    return {"field": "url", "message": words % {"how": _BY_OPERATOR}}


def _origin(parts: SplitResult, *, path: bool) -> str:
    return f"{parts.scheme}://{parts.netloc}{parts.path if path else ''}"[:200]
