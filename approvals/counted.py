"""The requests behind a number of the insights: what came of them, in how many days."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from django.db.models import Exists, OuterRef, QuerySet

from approvals import clock
from approvals.models import ApprovalRequest, Review, Viewing

Rows = QuerySet[ApprovalRequest]
LONGEST = 90


def behind(rows: Rows, given: Mapping[str, str]) -> Rows:
    """The rows narrowed by `came` and `days`, as an address has them; what means nothing narrows nothing."""
    days = given.get("days", "")
    if days.isascii() and days.isdecimal() and 0 < len(days) < 3 and int(days) <= LONGEST:
        rows = rows.filter(opened_at__gte=clock.now() - timedelta(days=int(days))).exclude(status="superseded")
    narrow = CAME.get(given.get("came", ""))
    return narrow(rows) if narrow else rows


def _answered(*decisions: str) -> Exists:
    return Exists(Review.objects.filter(request=OuterRef("pk"), decision__in=decisions))


CAME: Mapping[str, Callable[[Rows], Rows]] = {
    "rejected": lambda rows: rows.filter(status="rejected"),
    "edited": lambda rows: rows.filter(decision="edit"),
    "expired": lambda rows: rows.filter(status="expired"),
    "unseen": lambda rows: rows.filter(~Exists(Viewing.objects.filter(request=OuterRef("pk"))), status="expired"),
    "raised": lambda rows: rows.filter(escalation_level__gt=0),
    "turned": lambda rows: rows.filter(_answered("approve", "edit"), _answered("reject", "respond")),
}
