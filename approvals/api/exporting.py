"""The export of requests: every one of the tenant, with its answers, as NDJSON or CSV."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.http import HttpResponseBase
from ninja import Query, Router

from approvals import facts, queries
from approvals.api import shapes
from approvals.api.requests import FilterQuery
from approvals.models import ApprovalRequest
from approvals.queries import Filters
from approvals.rosters import roster
from tenants import streaming, walking
from tenants.bearer import demand
from tenants.frame import short_scopes
from tenants.models import Member
from tenants.requests import KeyRequest

router = Router(tags=["exports"])
BATCH = 100


class ExportQuery(FilterQuery):
    """What narrows the list of requests, and the form of the file."""

    format: streaming.Format = "ndjson"


@router.get("/exports/requests", summary="Export approval requests")
@short_scopes
def export_requests(request: KeyRequest, query: Query[ExportQuery]) -> HttpResponseBase:
    """The requests, oldest first, each as the list tells it; in CSV a cell that is no scalar is JSON."""
    bearer = demand(request, "audit:read", "admin")
    filters = Filters(**query.model_dump(exclude={"format"}))
    rows = every(bearer.member, filters)
    return streaming.export(rows, name="requests", form=query.format, columns=shapes.REQUEST)


def every(member: Member, filters: Filters) -> Iterator[dict[str, Any]]:
    """Every request of the member's tenant that the filters leave; who may ask for that, the caller has checked.

    Raises Refusal 422 at once for a status or risk that does not exist.
    """
    queries.narrowed(ApprovalRequest.objects.none(), filters, member=member)
    return walking.walk(
        member.tenant_id,
        lambda: queries.narrowed(ApprovalRequest.objects.all(), filters, member=member),
        tell=_told,
        batch=BATCH,
    )


def _told(rows: Sequence[ApprovalRequest]) -> list[dict[str, Any]]:
    names = roster()
    return [shapes.request(each, names) for each in facts.of(rows, names)]
