"""A request in hand: the row under its lock with all that an act on it needs, read once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from psycopg.pq.abc import PGresult

from approvals import escalations, requirements, rosters, wordings
from approvals.models import ApprovalRequest, RequestVersion, Review
from approvals.requirements import Requirement, Voter
from approvals.reviewers import Asking, LevelsOf, Vote, asking, askings, counted
from approvals.rosters import Roster, roster
from tenants import audit, locks, prepared
from tenants.rows import Columns, Rows

_HOLD = "SELECT r.subject, subject_lock(r.tenant_id, r.subject) FROM approvals_approvalrequest r WHERE r.id = $1::uuid"
"""As `request_hold` does: no row where the tenant in scope has no such request."""
_BESIDE = (
    "clock_timestamp()",
    "EXISTS (SELECT FROM approvals_review w WHERE w.request_id = r.id)",
    "EXISTS (SELECT FROM approvals_reassignment m WHERE m.request_id = r.id)",
)
_ROW = Rows(
    ApprovalRequest,
    "r.id = $1::uuid",
    also=[*_BESIDE, "(SELECT t.stamp FROM tenants_tenant t WHERE t.id = r.tenant_id)"],
)
_REQUEST, _VERSION = Columns(ApprovalRequest, "r"), Columns(RequestVersion, "v")
_TAKEN = f"""
SELECT {", ".join([*_REQUEST.texts, *_BESIDE, *_VERSION.texts])}
FROM approvals_approvalrequest r
JOIN approvals_requestversion v ON v.request_id = r.id AND v.number = r.version
WHERE r.id = $1::uuid
"""  # noqa: S608  # All ours.
"""A request, what is read beside it, and the version that stands."""
_OF_REQUEST = "r.request_id = $1::uuid"
_VERSIONS = Rows(RequestVersion, f"{_OF_REQUEST} ORDER BY r.number")
_REVIEWS = Rows(Review, f"{_OF_REQUEST} ORDER BY r.at, r.id")


@dataclass(frozen=True)
class Row:
    """A request under its lock, the moment after it was taken, the tenant's stamp, and whether there are answers and
    reassignments."""

    request: ApprovalRequest
    now: datetime
    stamp: int
    answered: bool
    moved: bool

    def ask(self, levels_of: LevelsOf = escalations.levels_of) -> Asking:
        """What the guard needs to know of it; moves are read only where there are any, which is seldom."""
        return askings([self.request], moved=self.moved, levels_of=levels_of)[self.request.id]

    def asks(self, levels_of: LevelsOf = escalations.levels_of) -> Asking:
        """The same with the answers that were given, which are read only where there are any."""
        reviews = _reviews(self.request) if self.answered else ()
        return replace(
            self.ask(levels_of), answers=tuple(each for each in reviews if each.version == self.request.version)
        )


@dataclass(frozen=True)
class Hand:
    """One request as it is now. What changes it gives a new hand; the row itself is written by `requests` alone."""

    request: ApprovalRequest
    versions: tuple[RequestVersion, ...]
    reviews: tuple[Review, ...]
    people: Roster
    ask: Asking
    head: audit.Head | None = None
    """That of the tenant's audit, as it was when the request was taken."""

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
    def asks(self) -> Asking:
        """The same as `ask`, with the answers that were given."""
        return replace(self.ask, answers=tuple(self.answers))

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
    """Hold the request's subject, then read it with all that an act needs; None for an id that is unknown here.

    All of it is one round trip: each statement sees what was committed before it, so what follows the lock is current.
    Answers and former versions are read only where there are any.
    """
    key, early = (str(request_id),), _Early()
    questions = [(_HOLD, key), (_TAKEN, key), rosters.QUESTION, audit.last()]
    *_taken, people, last = prepared.several(questions, early=(2, early.read))
    if early.version is None:
        return None
    locks.held(early.subject)
    taken, version = _row_of(early.request, *early.beside), early.version
    return Hand(
        taken.request,
        versions=(version,) if version.number == 1 else _versions(taken.request),
        reviews=_reviews(taken.request) if taken.answered else (),
        people=rosters.read(people),
        ask=taken.ask(),
        head=next(iter(prepared.read(last, tuple)), None),
    )


class _Early:
    """A request's row and version, made while PostgreSQL reads the people."""

    subject: str
    request: ApprovalRequest
    beside: tuple[datetime, bool, bool]
    version: RequestVersion | None = None

    def read(self, answers: Sequence[PGresult]) -> None:
        """The answers to `_HOLD` and `_TAKEN`."""
        held, found = answers
        for (self.subject, _lock), values in zip(prepared.read(held, tuple), prepared.read(found, tuple), strict=True):
            beside = len(_REQUEST.names)
            version = beside + len(_BESIDE)
            self.request = _REQUEST.made(values)
            self.beside = values[beside:version]
            self.version = _VERSION.made(values[version:])


def read(request_id: UUID) -> Row:
    """The row of a request whose subject is held."""
    ((request, *beside, stamp),) = _ROW.beside(str(request_id))
    return _row_of(request, *beside, stamp=stamp)


def _row_of(request: ApprovalRequest, now: datetime, answered: bool, moved: bool, *, stamp: int = 0) -> Row:
    locks.demand(request.subject)
    wordings.recall(request)
    return Row(request, now, stamp=stamp, answered=answered, moved=moved)


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
    return tuple(_REVIEWS.all(str(request.pk)))


def _versions(request: ApprovalRequest) -> tuple[RequestVersion, ...]:
    return tuple(_VERSIONS.all(str(request.pk)))
