"""What can be watched here: the inbox of the tenant, and one request."""

from approvals import access
from approvals.models import ApprovalRequest
from tenants import events, ids, topics
from tenants.models import Event, Member


def connect() -> None:
    """Let members watch the inbox and the requests they may read."""
    topics.register("inbox", may_watch=lambda _member, key: key == "", number=lambda _member, _key: inbox_number())
    topics.register("request", may_watch=_may_watch, number=_number)


def inbox_number() -> int:
    """A number that grows with everything that is told in the tenant: microseconds of its last event."""
    last = Event.objects.order_by("-at").values_list("at", flat=True).first()
    return int(last.timestamp() * 1_000_000) if last else 0


def _may_watch(member: Member, key: str) -> bool:
    request_id = ids.parse(key)
    return request_id is not None and access.readable(member).filter(pk=request_id).exists()


def _number(_member: Member, key: str) -> int:
    request_id = ids.parse(key)
    if request_id is None:
        return 0
    subject = ApprovalRequest.objects.filter(pk=request_id).values_list("subject", flat=True).first()
    return events.last_seq(subject) if subject else 0
