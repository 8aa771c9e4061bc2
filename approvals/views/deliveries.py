"""The page of deliveries: what was sent to whom, what failed and why, and sending it again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from approvals import deliveries
from approvals.deliveries import TRANSPORTS, Filters
from approvals.models import Channel, Delivery
from approvals.notifications import health, outbox
from approvals.pages import reasons
from tenants import ids, pages, paging
from tenants.pages import Tab
from tenants.requests import TenantRequest
from tenants.scope import scope

HERE = "settings/deliveries/"


@dataclass(frozen=True)
class DeliveryLine:
    """One delivery, in words."""

    what: str
    to: str
    transport: str
    request_url: str
    status: str
    attempts: int
    error: str
    at: datetime
    sent_at: datetime | None
    next_at: datetime | None
    resend_url: str


@dataclass(frozen=True)
class DeliveriesView:
    """A page of them."""

    chips: Sequence[Tab]
    lines: Sequence[DeliveryLine]
    of: str
    next_url: str
    previous_url: str = ""


@require_safe
@pages.only("admin")
def every(request: TenantRequest, **_names: object) -> HttpResponse:
    """The deliveries that pass the filter, newest first."""
    base = pages.base(request)
    asked = {name: request.GET.get(name, "") for name in ("status", "transport", "channel", "cursor")}
    with pages.read(request):
        channel = ids.parse(asked["channel"])
        found = deliveries.listed(_filters(asked, channel))
        page = paging.page(found, by=["-created_at", "-id"], cursor=asked["cursor"] or None, limit=None)
        view = DeliveriesView(
            chips=_chips(base, asked),
            lines=[_line(row, base) for row in page.items],
            of=_name(channel),
            next_url=_url(base, {**asked, "cursor": page.next}) if page.next else "",
        )
    return pages.page(request, "settings/deliveries.html", {"view": view}, section="settings", here=HERE)


@require_POST
@pages.only("admin")
def resend(request: TenantRequest, delivery_id: UUID, **_names: object) -> HttpResponse:
    """Send one again."""
    with scope(request.tenant.pk):
        deliveries.resend(delivery_id, actor=request.actor, channel="page")
    return pages.done(request, HERE, _("It is on its way again. Its state stands at the top."))


def _filters(asked: dict[str, str], channel: UUID | None) -> Filters:
    """The filters; what is none of them is left out."""
    status = asked["status"] if asked["status"] in (*deliveries.STATES, "failed") else ""
    transport = asked["transport"] if asked["transport"] in TRANSPORTS else ""
    return Filters(status, transport, channel)


def _chips(base: str, asked: dict[str, str]) -> list[Tab]:
    words = [("", "", _("All")), ("status", "failed", _("Failed"))]
    words += [("transport", each, str(_word(each))) for each in TRANSPORTS]
    kept = {"channel": asked["channel"]}
    return [
        Tab(label, _url(base, {**kept, name: value} if name else kept), current=_is_current(asked, name, value))
        for name, value, label in words
    ]


def _is_current(asked: dict[str, str], name: str, value: str) -> bool:
    return asked[name] == value if name else not (asked["status"] or asked["transport"])


def _url(base: str, asked: dict[str, str]) -> str:
    query = urlencode({name: value for name, value in asked.items() if value})
    return f"{base}{HERE}{'?' if query else ''}{query}"


def _line(row: Delivery, base: str) -> DeliveryLine:
    done = row.status == "given_up" or (row.status == "sent" and row.transport == "webhook")
    return DeliveryLine(
        what=_what(row),
        to=row.channel.name if row.channel else row.member.name if row.member else row.address,
        transport=_word(row.transport),
        request_url=f"{base}requests/{row.request_id}/" if row.request_id else "",
        status=row.status,
        attempts=row.attempts,
        error=reasons.said(row.error),
        at=row.created_at,
        sent_at=row.sent_at,
        next_at=row.due_at if row.status == "pending" else None,
        resend_url=f"{base}{HERE}{row.pk}/resend/" if done and _can_leave(row) else "",
    )


def _can_leave(row: Delivery) -> bool:
    return row.kind != outbox.TEST and row.error != outbox.NOT_NEEDED and not health.closed(row)


def _what(row: Delivery) -> str:
    """What it says; a webhook's is the name of its event."""
    words = {
        outbox.ASKED: _("Asked to answer"),
        outbox.AGAIN: _("Asked again"),
        outbox.CLOSING: _("The time to answer ends soon"),
        outbox.LAPSED: _("A vote no longer counts"),
        outbox.NOBODY: _("Too few people can answer"),
        outbox.UNREADABLE: _("A rule could not be evaluated"),
        outbox.ENDED: _("How a question ended"),
        outbox.DECIDED: _("What was asked is decided"),
        outbox.CHANNEL_OFF: _("A channel was switched off"),
        outbox.UNKNOWN: _("A call may or may not have happened"),
        outbox.TEST: _("Test"),
    }
    return words.get(row.kind, row.kind)


def _word(transport: str) -> str:
    return {"email": _("E-mail"), "webhook": _("Webhook"), "chat": _("Chat")}[transport]


def _name(channel: UUID | None) -> str:
    if channel is None:
        return ""
    return Channel.objects.filter(pk=channel).values_list("name", flat=True).first() or "–"
