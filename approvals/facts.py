"""Everything about some requests that an answer or a page tells, read with a fixed number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals import escalations, requirements
from approvals.hands import Hand
from approvals.models import ApprovalRequest, Asked, RequestVersion, Review
from approvals.requirements import Requirement, Voter
from approvals.reviewers import Asking, Vote, askings, counted
from approvals.rosters import Roster


@dataclass(frozen=True)
class Facts:
    """One request with what belongs to it. `votes` are the approvals that count for the version that stands."""

    request: ApprovalRequest
    versions: tuple[RequestVersion, ...]
    reviews: tuple[Review, ...]
    asked: tuple[Asked, ...]
    ask: Asking
    votes: tuple[Vote, ...]
    superseded_by: UUID | None

    @property
    def version(self) -> RequestVersion:
        """The version that stands."""
        return self.versions[self.request.version - 1]

    @property
    def requirement(self) -> Requirement:
        return self.ask.requirement

    @property
    def progress(self) -> tuple[int, int]:
        """Approvals given and needed."""
        return requirements.progress(self.requirement, self.voters)

    @property
    def voters(self) -> list[Voter]:
        """Who has approved the version that stands, as whom they count."""
        return [vote.voter for vote in self.votes]

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers that are possible, apart from who gives them; none once it has ended."""
        return self.requirement.answers if self.request.status == "pending" else ()

    @property
    def rungs(self) -> tuple[escalations.Rung, ...]:
        """The steps of escalation that are still to come."""
        if self.request.status != "pending":
            return ()
        every = escalations.schedule(self.ask.escalation, opened_at=self.request.opened_at)
        return every[self.request.rung :]

    @property
    def next_escalation_at(self) -> datetime | None:
        """When somebody else is asked next, if that comes before the deadline."""
        return next((rung.at for rung in self.rungs if rung.at < self.request.deadline), None)


def of(requests: Sequence[ApprovalRequest], people: Roster) -> list[Facts]:
    """The facts of each of `requests`, in their order; six queries whatever their number."""
    keys = [request.pk for request in requests]
    versions = _by_request(RequestVersion.objects.filter(request__in=keys).order_by("number"))
    reviews = _by_request(Review.objects.filter(request__in=keys).order_by("at", "id"))
    asked = _by_request(Asked.objects.filter(request__in=keys).order_by("level", "since", "id"))
    later = dict(ApprovalRequest.objects.filter(supersedes__in=keys).values_list("supersedes_id", "id"))
    asks = askings(requests)
    return [
        Facts(
            request=request,
            versions=tuple(versions.get(request.pk, ())),
            reviews=tuple(reviews.get(request.pk, ())),
            asked=tuple(asked.get(request.pk, ())),
            ask=asks[request.pk],
            votes=tuple(_votes(request, people, asks[request.pk], reviews.get(request.pk, []))),
            superseded_by=later.get(request.pk),
        )
        for request in requests
    ]


def of_one(request: ApprovalRequest, people: Roster) -> Facts:
    """The facts of one request."""
    return of([request], people)[0]


def of_hand(hand: Hand) -> Facts:
    """The facts of a request that was acted on just now; one query, since the rest is in hand."""
    row = hand.request
    asked = Asked.objects.filter(request=row).order_by("level", "since", "id")
    return Facts(row, hand.versions, hand.reviews, tuple(asked), hand.ask, tuple(hand.votes), None)


def _votes(request: ApprovalRequest, people: Roster, ask: Asking, reviews: Sequence[Review]) -> list[Vote]:
    return counted(people, ask, [review for review in reviews if review.version == request.version])


def _by_request(rows: Any) -> dict[UUID, list[Any]]:
    found: dict[UUID, list[Any]] = {}
    for row in rows:
        found.setdefault(row.request_id, []).append(row)
    return found
