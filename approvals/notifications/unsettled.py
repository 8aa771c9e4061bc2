"""What a message says of a call whose outcome is unknown; a floor above reads it, for nothing here knows a run."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from approvals.models import Delivery


@dataclass(frozen=True)
class Unsettled:
    """A call that may or may not have happened: no parameter of it. `path` lies below the tenant's pages."""

    act: str
    agent: str
    reference: str
    path: str
    since: datetime


READ_BY: list[Callable[[str, int], Unsettled | None]] = []
"""By subject and number of the step: what is unknown there, None where it is settled. A floor above adds it."""


def of(row: Delivery) -> Unsettled | None:
    """The call that this delivery is about, None once its outcome is known."""
    return next((found for read in READ_BY if (found := read(row.subject, row.seq or 0))), None)
