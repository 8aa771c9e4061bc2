"""What can be watched here: the inbox of the tenant, and one request."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import DateTimeField, Func, Max, Value
from django.db.models.functions import Coalesce, Now

from approvals import access
from approvals.models import ApprovalRequest
from tenants import events, ids, topics
from tenants.models import Event, Member

WINDOW = timedelta(minutes=2)
BEGIN = Func(
    Value(WINDOW),
    Now() - WINDOW,
    Value(datetime(2026, 1, 1, tzinfo=UTC)),
    function="date_bin",
    output_field=DateTimeField(),
)
"""Where the window begins: two to four minutes ago."""


def connect() -> None:
    """Let members watch the inbox and the requests they may read."""
    topics.register("inbox", may_watch=lambda _member, key: key == "", number=lambda _member, _key: inbox_number())
    topics.register("request", may_watch=_may_watch, number=_number)


def inbox_number() -> int:
    """A number that grows with everything that is told in the tenant: microseconds of its last event.

    Events are found by time within a window alone. Where none is in it, the number is that of the window's beginning,
    which moves every two minutes: none is missed, and a page that saw nothing happen looks once in that time.
    """
    found = Event.objects.filter(at__gte=BEGIN).aggregate(last=Coalesce(Max("at"), BEGIN))
    return int(found["last"].timestamp() * 1_000_000)


def _may_watch(member: Member, key: str) -> bool:
    request_id = ids.parse(key)
    return request_id is not None and access.readable(member).filter(pk=request_id).exists()


def _number(_member: Member, key: str) -> int:
    request_id = ids.parse(key)
    return last_told(request_id) if request_id else 0


def last_told(request_id: UUID) -> int:
    """The number of the last event of what a request is about, 0 where there is none."""
    subject = ApprovalRequest.objects.filter(pk=request_id).values_list("subject", flat=True).first()
    return events.last_seq(subject) if subject else 0
