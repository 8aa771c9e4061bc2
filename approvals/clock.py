"""The database's clock: deadlines are set and judged by it alone, whatever a host believes the time to be."""

from datetime import datetime

from django.db import connection


def now() -> datetime:
    """The moment by PostgreSQL's clock, not the start of the transaction: waiting for a lock takes time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment
