"""The API of approval requests: list, read, decide, and what people do around a decision."""

from typing import Any
from uuid import UUID

from ninja import Query, Router, Schema, Status
from pydantic import Field

from approvals import acts, decisions, facts, queries
from approvals.api import shapes
from approvals.api.schemas import BulkItem, DecidedOut, DecisionBody, RequestOut, RequestPage, Strict
from approvals.models import ApprovalRequest
from approvals.queries import Filters
from approvals.rosters import roster
from tenants import exact_json, paging, problems
from tenants.bearer import demand
from tenants.frame import keys_items, once_for_item
from tenants.idempotency import Answer
from tenants.refusals import Refusal
from tenants.requests import KeyRequest
from tenants.scope import scope
from tenants.wire import simple, text

router = Router(tags=["approvals"])
Shape = dict[str, Any]
MAX_BULK = 100


class FilterQuery(Schema):
    status: str = ""
    tool: str = ""
    risk: str = ""
    agent: str = ""
    subject: str = ""
    mine: bool = False
    q: str = ""


class ListQuery(FilterQuery):
    cursor: str | None = None
    limit: int | None = None


class BulkBody(Strict):
    items: list[BulkItem]


class ReassignBody(Strict):
    to: str
    before: str | None = Field(None, alias="from")
    comment: str = ""


class TextBody(Strict):
    text: str


@router.get("/approval-requests", response=RequestPage, by_alias=True, summary="List approval requests")
def list_requests(request: KeyRequest, query: Query[ListQuery]) -> Any:
    """The requests you may read, newest first; `mine=true` keeps those you are asked about now."""
    bearer = demand(request, "approvals:read")
    values = query.model_dump(exclude={"cursor", "limit"})
    found = queries.listed(bearer.member, Filters(**values))
    page = paging.page(found, by=["-opened_at", "-id"], cursor=query.cursor, limit=query.limit)
    names = roster()
    return {"items": [shapes.request(each, names) for each in facts.of(page.items, names)], "next": page.next}


@router.get(
    "/approval-requests/{uuid:request_id}", response=RequestOut, by_alias=True, summary="Read an approval request"
)
def read_request(request: KeyRequest, request_id: UUID) -> Any:
    """One request with its answers, and who is asked."""
    bearer = demand(request, "approvals:read")
    return _shape(queries.one(bearer.member, request_id))


@router.post(
    "/approval-requests/{uuid:request_id}/decisions",
    response={201: DecidedOut},
    by_alias=True,
    summary="Answer a request",
)
def decide(request: KeyRequest, request_id: UUID, body: DecisionBody) -> Any:
    """Give your answer to the version you have read; 409 carries the state that stands."""
    bearer = demand(request, "approvals:decide")
    done = decisions.decide(request_id, tenant=bearer.tenant, actor=bearer.actor, channel="api", **body.model_dump())
    with scope(bearer.tenant):
        return Status(201, _decided(done))


@router.post("/approval-requests/bulk-decisions", summary="Answer several requests, one result each")
@keys_items
def decide_many(request: KeyRequest, body: BulkBody) -> Any:
    """Each item is answered by itself; one that fails hinders no other. No edits and no answers in a tool's place."""
    bearer = demand(request, "approvals:decide")
    items = body.items[:MAX_BULK]
    return {"results": [_bulk_item(request, bearer, item) for item in items]}


@router.post("/approval-requests/{uuid:request_id}/viewed", response={204: None}, summary="Say that you are looking")
def viewed(request: KeyRequest, request_id: UUID) -> Any:
    """Keep that you have the request before you, since when, for others to see."""
    bearer = demand(request, "approvals:read")
    acts.view(request_id, tenant=bearer.tenant, actor=bearer.actor)
    return Status(204, None)


@router.post(
    "/approval-requests/{uuid:request_id}/reassign",
    response=RequestOut,
    by_alias=True,
    summary="Let another member answer",
)
def reassign(request: KeyRequest, request_id: UUID, body: ReassignBody) -> Any:
    """`{to, from?, comment?}`: members by id or address. The former may no longer answer."""
    bearer = demand(request, "approvals:decide", "manager")
    acts.reassign(
        request_id,
        tenant=bearer.tenant,
        actor=bearer.actor,
        to=body.to,
        before=body.before,
        comment=body.comment,
        channel="api",
    )
    return _again(bearer, request_id)


@router.post(
    "/approval-requests/{uuid:request_id}/escalate",
    response=RequestOut,
    by_alias=True,
    summary="Ask the next level now",
)
def escalate(request: KeyRequest, request_id: UUID) -> Any:
    """Raise the request by one level at once."""
    bearer = demand(request, "approvals:decide", "manager")
    acts.escalate(request_id, tenant=bearer.tenant, actor=bearer.actor, channel="api")
    return _again(bearer, request_id)


@router.get("/approval-requests/{uuid:request_id}/comments", summary="Read the comments")
def comments(request: KeyRequest, request_id: UUID) -> Any:
    """What people said beside the question, oldest first."""
    bearer = demand(request, "approvals:read")
    row = queries.one(bearer.member, request_id)
    return {"items": [_comment(each) for each in row.comments.order_by("at", "id")], "next": None}


@router.post("/approval-requests/{uuid:request_id}/comments", response={201: Any}, summary="Comment on a request")
def comment(request: KeyRequest, request_id: UUID, body: TextBody) -> Any:
    """The reviewers read it, the agent does not."""
    bearer = demand(request, "approvals:read")
    made = acts.comment(request_id, tenant=bearer.tenant, actor=bearer.actor, text=body.text, channel="api")
    return Status(201, _comment(made))


def _bulk_item(request: KeyRequest, bearer: Any, item: BulkItem) -> Shape:
    sent = item.model_dump()

    def work() -> Answer:
        return _bulk_answer(bearer, item)

    answer = once_for_item(request, str(item.id), simple(sent), work)
    return {"id": item.id, "status": answer.status, **exact_json.loads(answer.body)}


def _bulk_answer(bearer: Any, item: BulkItem) -> Answer:
    try:
        done = acts.decide_item(item.model_dump(), tenant=bearer.tenant, actor=bearer.actor, channel="bulk")
    except Refusal as refusal:
        problem = exact_json.loads(problems.of(refusal).content)
        return Answer(refusal.status, text({"problem": problem}))
    with scope(bearer.tenant):
        return Answer(201, text({"request": _decided(done)["request"]}))


def _decided(done: decisions.Decided) -> Shape:
    found, names = facts.of_hand(done.hand), done.hand.people
    return {"request": shapes.request(found, names), "review": shapes.review(done.review, found, names)}


def _again(bearer: Any, request_id: UUID) -> Shape:
    with scope(bearer.tenant):
        return _shape(ApprovalRequest.objects.get(pk=request_id))


def _shape(row: ApprovalRequest) -> Shape:
    names = roster()
    return shapes.request(facts.of_one(row, names), names)


def _comment(row: Any) -> Shape:
    return {"id": row.id, "actor": row.actor, "text": row.text, "at": row.at}
