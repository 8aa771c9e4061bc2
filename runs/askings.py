"""A run as approvals know it: its subject, and the requests that its calls led to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from approvals import queries
from approvals.models import ApprovalRequest, Asked, RequestVersion, Review

PREFIX = "run:"


def subject(run_id: UUID) -> str:
    """The subject of a run."""
    return f"{PREFIX}{run_id}"


@dataclass(frozen=True, slots=True)
class Asking:
    """The latest approval request of a step, with the arguments of its present version.

    `proposed` is the act as the model asked for it, and `changed_by` who edited it last, also where the edit was of a
    request that this one supersedes.
    """

    id: UUID
    step: int
    status: str
    title: str
    arguments: str
    risk: str
    needed: int
    opened_at: datetime
    deadline: datetime
    decided_at: datetime | None
    decision: str
    version: int
    edited_by: str = ""
    edited_fields: tuple[str, ...] = ()
    approvers: tuple[str, ...] = ()
    asked: tuple[UUID, ...] = ()
    open_to: tuple[UUID, ...] = ()
    """Of those who are asked, the members who have not voted on the present version."""
    next_at: datetime | None = None
    """When more people are asked, if that comes before the deadline."""
    evidence: str | None = None
    """What was read for the reviewer before anybody answered, as JSON text."""
    proposed: str = ""
    changed_by: str = ""


def pending(ids: Sequence[UUID]) -> dict[UUID, list[Asking]]:
    """The open requests of these runs, the oldest first, with the members who are asked."""
    wanted = ApprovalRequest.objects.filter(subject__in=[subject(each) for each in ids], status="pending")
    found: dict[UUID, list[Asking]] = {}
    for request, asking in _askings(wanted, people=False):
        found.setdefault(run_of(request.subject), []).append(asking)
    return found


def latest(run_id: UUID) -> dict[int, Asking]:
    """The latest request of each step of a run that has one."""
    wanted = ApprovalRequest.objects.filter(subject=subject(run_id))
    return {asking.step: asking for _, asking in _askings(wanted, people=True)}


def run_of(subject_: str) -> UUID:
    return UUID(subject_.removeprefix(PREFIX))


def _askings(wanted: "QuerySet[ApprovalRequest]", *, people: bool) -> Iterable[tuple[ApprovalRequest, Asking]]:
    requests = list(wanted.order_by("opened_at", "id"))
    ids = [request.id for request in requests]
    versions = {(each.request_id, each.number): each for each in _versions(ids)}
    asked = _asked(ids)
    votes = _votes(ids) if people else {}
    begun: dict[tuple[str, str], tuple[str, str]] = {}
    for request in requests:
        asking = _asking(
            request, versions.get((request.id, request.version)), asked.get(request.id, {}), votes.get(request.id, [])
        )
        first = versions.get((request.id, 1))
        proposed, changed_by = begun.get((request.subject, request.ref), (first.title if first else "", ""))
        begun[request.subject, request.ref] = (proposed, asking.edited_by or changed_by)
        yield request, replace(asking, proposed=proposed, changed_by=asking.edited_by or changed_by)


def _versions(ids: Sequence[UUID]) -> "QuerySet[RequestVersion]":
    return RequestVersion.objects.filter(request_id__in=ids).select_related("edited_by__person")


def _asked(ids: Sequence[UUID]) -> dict[UUID, dict[UUID, bool]]:
    """Who is asked in each request at present, and whether that member has voted on its present version."""
    rows = Asked.objects.filter(request_id__in=ids, until=None).annotate(voted=queries.voted())
    found: dict[UUID, dict[UUID, bool]] = {}
    for request_id, member, voted in rows.values_list("request_id", "member_id", "voted"):
        found.setdefault(request_id, {})[member] = voted
    return found


def _votes(ids: Sequence[UUID]) -> dict[UUID, list[Review]]:
    found: dict[UUID, list[Review]] = {}
    rows = Review.objects.filter(request_id__in=ids, decision__in=queries.VOTES)
    for review in rows.select_related("member__person").order_by("at", "id"):
        found.setdefault(review.request_id, []).append(review)
    return found


def _asking(
    request: ApprovalRequest, version: RequestVersion | None, asked: Mapping[UUID, bool], votes: Sequence[Review]
) -> Asking:
    standing = dict.fromkeys(vote.member.name for vote in votes if vote.version == request.version)
    return Asking(
        id=request.id,
        step=int(request.ref or 0),
        status=request.status,
        title=version.title if version else request.tool_title,
        arguments=version.arguments if version else request.proposed_arguments,
        risk=request.risk,
        needed=_needed(request.requirement),
        opened_at=request.opened_at,
        deadline=request.deadline,
        decided_at=request.decided_at,
        decision=request.decision,
        version=request.version,
        edited_by=version.edited_by.name if version and version.edited_by else "",
        edited_fields=tuple(version.edited_fields) if version else (),
        approvers=tuple(standing),
        asked=tuple(asked),
        open_to=tuple(member for member, voted in asked.items() if not voted),
        next_at=request.next_at if request.next_at and request.next_at < request.deadline else None,
        evidence=request.evidence,
    )


def _needed(requirement: Mapping[str, Any]) -> int:
    return max((int(each.get("approvals", 1)) for each in requirement.get("demands", [])), default=1)
