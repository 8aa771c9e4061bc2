"""What the floor above needs to know of the newest request of each step of a subject."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from approvals import requirements, texts
from approvals.models import ApprovalRequest, RequestVersion, Review
from approvals.requirements import Requirement


@dataclass(frozen=True)
class RequestView:
    """A step's latest request; `arguments` and `digest` are those of the version that stands.

    `text` is what the model reads in the call's place, empty while it may still run; `voters` are the members whose
    approvals of that version were counted, none where silence approved it.
    """

    id: UUID
    ref: str
    status: str
    version: int
    round: int
    arguments: str
    digest: str
    decision: str
    comment: str
    response: str
    text: str
    edited_fields: tuple[str, ...]
    deadline: datetime
    requirement: Requirement
    fingerprint: str
    precondition: str | None
    voters: tuple[UUID, ...]


def latest(subject: str) -> dict[str, RequestView]:
    """The newest request of each step of the subject, by `ref`; one query where there is none, three else."""
    newest: dict[str, ApprovalRequest] = {}
    for request in ApprovalRequest.objects.filter(subject=subject).defer("precedents").order_by("opened_at", "id"):
        newest[request.ref] = request
    if not newest:
        return {}
    keys = [request.id for request in newest.values()]
    versions: dict[UUID, list[RequestVersion]] = {}
    for version in RequestVersion.objects.filter(request__in=keys).order_by("number"):
        versions.setdefault(version.request_id, []).append(version)
    voters: dict[tuple[UUID, int], list[UUID]] = {}
    votes = Review.objects.filter(request__in=keys, decision__in=("approve", "edit")).order_by("at", "id")
    for vote in votes:
        voters.setdefault((vote.request_id, vote.version), []).append(vote.member_id)
    return {
        ref: _view(request, versions[request.id], voters.get((request.id, request.version), []))
        for ref, request in newest.items()
    }


def _view(request: ApprovalRequest, versions: Sequence[RequestVersion], voters: Sequence[UUID]) -> RequestView:
    standing = versions[request.version - 1]
    changed = dict.fromkeys(name for version in versions for name in version.edited_fields)
    text = texts.of_decision(request.status, comment=request.comment, response=request.response)
    return RequestView(
        id=request.id,
        ref=request.ref,
        status=request.status,
        version=request.version,
        round=request.round,
        arguments=standing.arguments,
        digest=standing.digest,
        decision=request.decision,
        comment=request.comment,
        response=request.response,
        text=texts.cancelled(request.comment) if request.status == "cancelled" else text,
        edited_fields=tuple(changed),
        deadline=request.deadline,
        requirement=requirements.from_json(request.requirement),
        fingerprint=request.fingerprint,
        precondition=request.precondition,
        voters=tuple(dict.fromkeys(voters)),
    )
