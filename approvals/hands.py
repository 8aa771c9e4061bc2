"""A request in hand: the row under its lock with all that an act on it needs, read once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef

from approvals import requirements
from approvals.models import ApprovalRequest, Reassignment, RequestVersion, Review
from approvals.requirements import Requirement, Voter
from approvals.reviewers import Asking, Vote, asking, askings, counted
from approvals.rosters import Roster, roster
from tenants import locks


@dataclass(frozen=True)
class Hand:
    """One request as it is now. What changes it gives a new hand; the row itself is written by `requests` alone."""

    request: ApprovalRequest
    versions: tuple[RequestVersion, ...]
    reviews: tuple[Review, ...]
    people: Roster
    ask: Asking

    @property
    def now(self) -> datetime:
        """The moment by the database's clock, after the lock was taken."""
        return self.people.now

    @property
    def version(self) -> RequestVersion:
        """The version that stands."""
        return self.versions[self.request.version - 1]

    @property
    def need(self) -> Requirement:
        return self.ask.requirement

    @property
    def votes(self) -> list[Vote]:
        """The approvals that count for the version that stands."""
        return self.votes_for(self.request.version)

    def votes_for(self, version: int) -> list[Vote]:
        """The approvals of a version whose givers may give them."""
        return counted(self.people, self.ask, [each for each in self.reviews if each.version == version])

    @property
    def answers(self) -> list[Review]:
        """All answers to the version that stands, oldest first."""
        return [review for review in self.reviews if review.version == self.request.version]

    @property
    def voters(self) -> list[Voter]:
        return [vote.voter for vote in self.votes]

    @property
    def missing(self) -> int:
        """How many approvals are missing at the least."""
        return requirements.missing(self.need, self.voters)

    @property
    def progress(self) -> tuple[int, int]:
        """Approvals given and needed."""
        return requirements.progress(self.need, self.voters)

    def with_review(self, review: Review) -> "Hand":
        """The hand after one more answer."""
        return replace(self, reviews=(*self.reviews, review))

    def with_version(self, version: RequestVersion) -> "Hand":
        """The hand after an edit: the request row has the new version and requirement already."""
        need = requirements.from_json(self.request.requirement)
        return replace(self, versions=(*self.versions, version), ask=replace(self.ask, requirement=need))


def take(request_id: UUID) -> Hand | None:
    """Hold the request's subject, then read it; None for an id that is unknown here.

    Answers and reassignments are read only where there are any, which for most requests is never.
    """
    subject = ApprovalRequest.objects.filter(pk=request_id).values_list("subject", flat=True).first()
    if subject is None:
        return None
    locks.hold(subject)
    answered = Exists(Review.objects.filter(request=OuterRef("pk")))
    moved = Exists(Reassignment.objects.filter(request=OuterRef("pk")))
    request = ApprovalRequest.objects.annotate(answered=answered, moved=moved).get(pk=request_id)
    reviews = _reviews(request) if request.answered else ()
    ask = askings([request], moved=request.moved)[request.id]
    return Hand(request=request, versions=_versions(request), reviews=reviews, people=roster(), ask=ask)


def of(request: ApprovalRequest) -> Hand:
    """The hand of a request whose subject is held; four statements, five with an escalation policy."""
    locks.demand(request.subject)
    return Hand(
        request=request,
        versions=_versions(request),
        reviews=_reviews(request),
        people=roster(),
        ask=asking(request),
    )


def opened(request: ApprovalRequest, version: RequestVersion, reviews: Sequence[Review]) -> Hand:
    """The hand of a request that was written just now; two statements."""
    return Hand(request, (version,), tuple(reviews), roster(), asking(request))


def _reviews(request: ApprovalRequest) -> tuple[Review, ...]:
    return tuple(Review.objects.filter(request=request).order_by("at", "id"))


def _versions(request: ApprovalRequest) -> tuple[RequestVersion, ...]:
    return tuple(RequestVersion.objects.filter(request=request).order_by("number"))
