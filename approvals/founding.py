"""What a new tenant begins with here: its default rule and its working hours."""

from approvals import working_hours
from approvals.rules import groups_used, make_default
from tenants.actors import SYSTEM
from tenants.founding import FIRST_ROWS
from tenants.views.groups import USED_BY


def connect() -> None:
    """Have the default rule written into each new tenant, and the page of groups know who asks them."""
    FIRST_ROWS.append(first_rows)
    USED_BY.append(groups_used)


def first_rows() -> None:
    """The default rule and the working hours, in the tenant in scope."""
    make_default(actor=SYSTEM)
    working_hours.make_first()
