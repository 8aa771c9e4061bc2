"""Who hears of a run that moved: its own page, the lists of runs, the outcome desk. On commit, and never in the way."""

import time
from uuid import UUID

from tenants import live

RUNS, OUTCOMES = "runs", "outcomes"


def moved(tenant: UUID) -> None:
    """A run came or changed its state: the lists are no longer as they were."""
    live.ring(RUNS, number, tenant=tenant)


def unsettled(tenant: UUID) -> None:
    """An outcome became unknown, or was settled."""
    live.ring(OUTCOMES, number, tenant=tenant)


def number() -> int:
    """The number of a list now: milliseconds. A page takes its own before it reads the rows it shows."""
    return time.time_ns() // 1_000_000
