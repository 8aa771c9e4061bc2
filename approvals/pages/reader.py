"""Who reads a page, and the addresses it leads them to."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals.api.shapes import run_of
from approvals.facts import Facts
from approvals.models import ApprovalRequest
from tenants.models import Member


@dataclass(frozen=True)
class Reader:
    """Who reads, at which address the tenant's pages begin, and when."""

    member: Member
    base: str
    now: datetime
    wants_factor: bool = False
    told: int | None = None
    """The number of the last event before the request was read, for a page that is about one."""

    @property
    def id(self) -> UUID:
        return self.member.pk

    def voted(self, facts: Facts) -> bool:
        """Whether the reader's approval of the version that stands is among the votes."""
        return any(vote.review.member_id == self.id for vote in facts.votes)

    def stood_in(self, facts: Facts) -> UUID | None:
        """Who gave an approval that is among the votes in the reader's place, if anybody did."""
        return next((vote.review.member_id for vote in facts.votes if vote.review.in_place_of_id == self.id), None)

    def request_url(self, key: Any) -> str:
        """The page of a request."""
        return f"{self.base}requests/{key}/"

    def run_url(self, row: ApprovalRequest) -> str:
        """The page of the run a request is about, or ""."""
        run = run_of(row)
        return f"{self.base}runs/{run}/" if run else ""
