"""A transaction that the server ended since nothing was asked in it: an outage to its process, as a lost connection is.

The process stood still (a stopped container, a frozen machine) and others waited for its locks. psycopg counts the
server's word among the errors of a program, so that nobody would try again, and an API would answer 500.
"""

import psycopg
from psycopg import errors


class IdleTransactionEnded(errors.IdleInTransactionSessionTimeout, psycopg.OperationalError):
    """Nothing of the transaction was kept; the connection is gone."""

    sqlstate = "25P03"


def count_as_gone() -> None:
    """From now on `django.db.OperationalError` is what is raised of it, in this process."""
    errors._sqlcodes[IdleTransactionEnded.sqlstate] = IdleTransactionEnded  # noqa: SLF001  psycopg has no other place.
