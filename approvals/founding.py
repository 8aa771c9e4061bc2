"""What a new tenant begins with here: its default rule and its working hours."""

from approvals import absences, working_hours
from approvals.rules import groups_used, make_default
from tenants.actors import SYSTEM
from tenants.founding import FIRST_ROWS
from tenants.views.groups import USED_BY
from tenants.views.people import AWAY


def connect() -> None:
    """Have the first rows written into each new tenant, and the pages of people know who asks whom and who is away."""
    FIRST_ROWS.append(first_rows)
    AWAY.append(absences.away_now)
    USED_BY.append(groups_used)


def first_rows() -> None:
    """The default rule and the working hours, in the tenant in scope."""
    make_default(actor=SYSTEM)
    working_hours.make_first()
