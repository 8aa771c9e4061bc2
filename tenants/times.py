"""How far away a time may lie that somebody names.

PostgreSQL keeps years before 1 and after 9999, which an offset alone can lead to and which Python cannot read: one such
row, and every list that shows it fails.
"""

from datetime import datetime, timedelta

FARTHEST = timedelta(days=3660)


def too_far(at: datetime, *, now: datetime) -> bool:
    """Whether `at` lies more than ten years from `now`; both have an offset."""
    return abs(at - now) > FARTHEST
