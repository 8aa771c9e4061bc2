"""Callbacks of a channel that were refused: the first of an hour are entered one by one, the rest are counted.

Anybody may knock at the door, and the audit keeps what is entered for ever.
"""

from datetime import timedelta

from approvals import clock
from approvals.models import Channel
from tenants import audit
from tenants.actors import ANONYMOUS

WINDOW = timedelta(hours=1)
EACH = 10


def enter(channel: Channel, why: str) -> None:
    """Count a refused callback; enter each of the first ten of an hour, then the 100th, the 1000th and so on, with how
    many there were. The first of a later hour says how many went before it."""
    row = Channel.objects.select_for_update(no_key=True).get(pk=channel.pk)
    now, before = clock.now(), 0
    if row.refused_since is None or row.refused_since <= now - WINDOW:
        before, row.refused, row.refused_since = row.refused, 0, now
    row.refused += 1
    row.save(update_fields=["refused", "refused_since"])
    if not _is_entered(row.refused):
        return
    counted = {"refused": row.refused, "since": row.refused_since.isoformat()} if row.refused > EACH else {}
    counted |= {"refused_before": before} if before > EACH else {}
    detail = {"why": why, **counted}
    audit.record(
        "callback.refused",
        actor=ANONYMOUS,
        target=f"channel:{row.pk}",
        detail=detail,
        refused=True,
        channel="callback",
    )


def _is_entered(number: int) -> bool:
    return number <= EACH or str(number).strip("0") == "1"
