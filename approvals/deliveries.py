"""The deliveries of a tenant, as admins read them, and sending one again."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from approvals import clock, errors
from approvals.models import Delivery
from approvals.notifications import health, outbox, unsettled
from tenants import audit, ids
from tenants.actors import Actor
from tenants.refusals import Refusal, not_found
from tenants.scope import current

STATES = ("pending", "sending", "sent", "given_up")
TRANSPORTS = ("email", "webhook", "chat")


@dataclass(frozen=True)
class Filters:
    """What of the deliveries is wanted; "" is everything, `failed` what was given up or has failed so far."""

    status: str = ""
    transport: str = ""
    channel: UUID | None = None
    request: UUID | None = None


def listed(filters: Filters) -> QuerySet[Delivery]:
    """The deliveries that pass; raises Refusal 422 for a filter that is none."""
    rows = Delivery.objects.select_related("channel", "member__person")
    rows = _of_status(rows, filters.status)
    if filters.transport:
        _known("transport", filters.transport, TRANSPORTS)
        rows = rows.filter(transport=filters.transport)
    if filters.channel:
        rows = rows.filter(channel=filters.channel)
    return rows.filter(request=filters.request) if filters.request else rows


def resend(delivery_id: UUID, *, actor: Actor, channel: str = "") -> Delivery:
    """Send what has left or was given up once more, under its own id. Raises Refusal, 409 where it cannot leave."""
    row = Delivery.objects.select_for_update(of=("self",)).select_related("channel", "request").filter(pk=delivery_id)
    old = row.first()
    if old is None:
        raise not_found(_("There is no such delivery."))
    why = _hindrance(old)
    if why:
        raise Refusal("cannot_be_sent", detail=why)
    again = _again(old)
    again.save(force_insert=True)
    detail = {"delivery": str(old.pk), "kind": old.kind, "transport": old.transport}
    audit.record("delivery.resent", actor=actor, target=f"delivery:{again.pk}", detail=detail, channel=channel)
    return again


def _hindrance(old: Delivery) -> str:
    if old.status in ("pending", "sending"):
        return _("It is on its way. There is nothing to send again yet.")
    if health.closed(old):
        return _("Its channel is switched off or removed. Switch it on first.")
    ended = old.transport != "webhook" and old.kind in outbox.ABOUT_OPEN and old.request
    if ended and ended.status != "pending":
        return _("The request has its answer. Nobody is told any more that it waits.")
    if old.kind == outbox.UNKNOWN and unsettled.of(old) is None:
        return _("It is known by now what became of the call, or it is not for this person to say.")
    return ""


def _again(old: Delivery) -> Delivery:
    return Delivery(
        tenant_id=current(),
        request=old.request,
        member_id=old.member_id,
        channel_id=old.channel_id,
        kind=old.kind,
        key=f"{old.key}:again:{ids.short(ids.new())}",
        transport=old.transport,
        address=old.address,
        due_at=clock.now(),
        subject=old.subject,
        seq=old.seq,
        origin=old.origin or old.pk,
    )


def _of_status(rows: QuerySet[Delivery], status: str) -> QuerySet[Delivery]:
    if status == "failed":
        return rows.filter(status__in=("given_up", "pending")).exclude(error="").exclude(error=outbox.NOT_NEEDED)
    if status:
        _known("status", status, (*STATES, "failed"))
        return rows.filter(status=status)
    return rows


def _known(field: str, value: Any, among: tuple[str, ...]) -> None:
    if value not in among:
        words = {"names": ", ".join(among)}
        raise errors.field(field, _("This is none of %(names)s.") % words)
