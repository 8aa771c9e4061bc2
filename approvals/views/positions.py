"""Where a request stands in the reader's list, and what comes before and after it."""

from uuid import UUID

from approvals import queries
from approvals.models import ApprovalRequest
from approvals.pages.parts import Position
from approvals.pages.reader import Reader
from tenants.models import Member

LIMIT = 200


def waiting(member: Member) -> list[UUID]:
    """What waits for the member, in the inbox's order; of more than two hundred, one more."""
    mine = ApprovalRequest.objects.filter(queries.asked_of(member), status="pending")
    return list(mine.order_by("next_at", "id").values_list("id", flat=True)[: LIMIT + 1])


def of(member: Member, request_id: UUID, reader: Reader) -> Position | None:
    """The request's place among those that wait for the member; where it does not, 0 with the first that does."""
    found = waiting(member)
    order = found[:LIMIT]
    if request_id not in order:
        return Position(index=0, total=len(order), next_url=reader.request_url(order[0])) if order else None
    at = order.index(request_id)
    return Position(
        index=at + 1,
        total=len(order),
        more=len(found) > LIMIT,
        next_url=reader.request_url(found[at + 1]) if at + 1 < len(found) else "",
        previous_url=reader.request_url(order[at - 1]) if at else "",
    )
