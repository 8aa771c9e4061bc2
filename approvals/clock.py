"""The database's clock: deadlines are set and judged by it alone, whatever a host believes the time to be."""

from datetime import datetime

from tenants import prepared


def now() -> datetime:
    """The moment by PostgreSQL's clock, not the start of the transaction: waiting for a lock takes time."""
    moment: datetime = prepared.one("SELECT clock_timestamp()", ())[0]
    return moment
