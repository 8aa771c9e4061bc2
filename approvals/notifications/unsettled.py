"""What a message says of a call whose outcome is unknown; a floor above reads it, for nothing here knows a run."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from approvals.models import Delivery


@dataclass(frozen=True)
class Unsettled:
    """A call that may or may not have happened: no parameter of it. `path` lies below the tenant's pages.

    `lacking` says why nobody may settle it, to an admin who can mend that; empty to those who may.
    """

    act: str
    agent: str
    reference: str
    path: str
    since: datetime
    lacking: str = ""


READ_BY: list[Callable[[str, int, str, UUID], Unsettled | None]] = []
"""By subject, number of the step, mark of the notice and reader: what is unknown there, None where it is settled or not
the reader's to settle or to mend. A floor above adds it."""
NOBODY = "-nobody"
"""What the mark of a notice to admins ends with: there is nobody who may settle it."""


def key(subject: str, step: int, *, mark: str) -> str:
    """What a notice about this step is told once by."""
    return f"{_begin(subject, step)}{mark}"


def of(row: Delivery) -> Unsettled | None:
    """The call that this delivery is about; None once its outcome is known or another notice tells of it, and where who
    is told may not settle it (any more)."""
    if row.member_id is None:
        return None
    step = row.seq or 0
    mark = row.key.removeprefix(_begin(row.subject, step)).partition(":")[0]
    return next((found for read in READ_BY if (found := read(row.subject, step, mark, row.member_id))), None)


def _begin(subject: str, step: int) -> str:
    return f"outcome_unknown:{subject}:{step}:"
