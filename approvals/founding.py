"""What a new tenant begins with here: its default rule."""

from approvals.rules import make_default
from tenants.actors import SYSTEM
from tenants.founding import FIRST_ROWS


def connect() -> None:
    """Have the default rule written into each new tenant."""
    FIRST_ROWS.append(first_rows)


def first_rows() -> None:
    """The default rule, in the tenant in scope."""
    make_default(actor=SYSTEM)
