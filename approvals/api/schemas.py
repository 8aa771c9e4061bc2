"""The shapes of requests, reviews and answers as the API document tells them; their order is that of `shapes`."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field, WithJsonSchema

Answer = Literal["approve", "edit", "reject", "respond"]
WORDS = {"type": "string", "maxLength": 20_000}
VERB = {"type": "string", "enum": ["approve", "edit", "reject", "deny", "respond"]}


class Strict(Schema):
    """A body that takes the fields it names and no other."""

    model_config = ConfigDict(extra="forbid")


class DecisionBody(Strict):
    """One answer. Read by `decisions.read`, which guesses nothing, says what is wrong and leaves it in the audit."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"required": ["decision", "version"]})

    decision: Annotated[Any, WithJsonSchema({**VERB, "description": "`deny` is taken for `reject`"})] = None
    version: Annotated[
        Any, WithJsonSchema({"type": "integer", "minimum": 1, "description": "The version you have read"})
    ] = None
    arguments: Annotated[
        Any,
        WithJsonSchema(
            {"type": ["object", "null"], "description": "With `edit`: all fields of the call, those that stay too"}
        ),
    ] = None
    response: Annotated[
        Any, WithJsonSchema({**WORDS, "type": ["string", "null"], "description": "With `respond`: the result"})
    ] = None
    comment: Annotated[
        Any, WithJsonSchema({**WORDS, "type": ["string", "null"], "description": "With `reject`: the reason"})
    ] = None


class BulkItem(Strict):
    """One answer of many: approve or reject."""

    id: Annotated[Any, WithJsonSchema({"type": "string", "format": "uuid"})] = None
    version: Annotated[Any, WithJsonSchema({"type": "integer", "minimum": 1})] = None
    decision: Annotated[Any, WithJsonSchema({"type": "string", "enum": ["approve", "reject", "deny"]})] = None
    comment: Annotated[Any, WithJsonSchema({**WORDS, "type": ["string", "null"]})] = None


class ReviewOut(Schema):
    """One person's answer to one version; `counts` says whether it counts for the one that stands."""

    member: UUID
    name: str
    in_place_of: UUID | None
    version: int
    decision: Answer
    comment: str
    channel: str
    at: datetime
    counts: bool


class AskedOut(Schema):
    """That a member was asked: because of what, from when until when."""

    member: UUID
    name: str
    level: int
    because: str
    from_: datetime = Field(alias="from")
    until: datetime | None


class RequestOut(Schema):
    """An approval request: the call as it was frozen, what is demanded, who is asked, and what came of it."""

    id: UUID
    status: Literal["pending", "approved", "rejected", "responded", "expired", "cancelled", "superseded"]
    version: int
    tool: str
    summary: str
    arguments: Any
    proposed_arguments: Any
    digest: str
    rationale: str | None
    risk: Literal["low", "medium", "high", "critical"]
    effect: str
    subject: str
    run: str | None
    step: int | str | None
    agent: str
    agent_version: str
    evidence: Any
    precondition: Any
    flags: list[dict[str, Any]]
    answers: list[Answer]
    requirement: dict[str, Any]
    approvals_given: int
    approvals_needed: int
    reviews: list[ReviewOut]
    asked: list[AskedOut]
    escalation_level: int
    next_escalation_at: datetime | None
    deadline: datetime
    decided_at: datetime | None
    decided_by: dict[str, Any] | None
    decision: Answer | None
    comment: str | None
    response: str | None
    initiators: list[UUID]
    supersedes: UUID | None
    superseded_by: UUID | None
    round: int
    difference: dict[str, Any] | None
    created_at: datetime


class RequestPage(Schema):
    """Some requests, the newest first, and where the next ones begin."""

    items: list[RequestOut]
    next: str | None


class DecidedOut(Schema):
    """The request after an answer, and the answer as it was kept."""

    request: RequestOut
    review: ReviewOut
