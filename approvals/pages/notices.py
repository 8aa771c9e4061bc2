"""What a request's page says of the messages about it: whom they reached, and whom they could not reach and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from approvals.models import ApprovalRequest, Delivery
from approvals.notifications import outbox
from approvals.pages import reasons

MOST = 40


@dataclass(frozen=True)
class Notices:
    """Names of people and channels that were told, and a sentence for each that could not be."""

    told: Sequence[str] = ()
    failed: Sequence[str] = ()


def of(row: ApprovalRequest) -> Notices:
    """The messages to people about a request that is open or that nobody answered; one statement."""
    if row.status not in ("pending", "expired"):
        return Notices()
    asking = row.deliveries.exclude(transport="webhook").exclude(error=outbox.NOT_NEEDED).exclude(kind=outbox.DECIDED)
    rows = list(asking.select_related("member__person", "channel").order_by("created_at", "id")[:MOST])
    told = [_name(each) for each in rows if each.status == "sent" and each.kind in outbox.ASKING]
    failed = [_said(each) for each in rows if each.status != "sent" and each.error]
    return Notices(sorted(set(told)), failed)


def _said(row: Delivery) -> str:
    words = {"who": _name(row), "why": reasons.said(row.error)}
    if row.status == "given_up":
        return _("Not delivered: %(who)s (%(why)s).") % words
    return _("Not delivered yet: %(who)s (%(why)s).") % words


def _name(row: Delivery) -> str:
    if row.channel and row.member:
        return _("%(who)s by %(channel)s") % {"who": row.member.name, "channel": row.channel.name}
    return row.channel.name if row.channel else row.member.name if row.member else row.address
