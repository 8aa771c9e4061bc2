"""The database went away while a call was out: what the call came to is kept, and recorded while the lease lasts."""

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from django.db import InterfaceError, OperationalError

from runs import payloads
from runs.entries import Closing, Planned, StepRow, Stored
from runs.leases import Lease
from runs.segment import Segment

T = TypeVar("T")

AWAY = (OperationalError, InterfaceError)
PAUSE = 0.2  # Seconds between two tries to reach it.
logger = logging.getLogger(__name__)


def patiently(lease: Lease, act: Callable[[], T]) -> T:
    """Do this, again and again while the database is away. Raises its error once the lease is about to lapse."""
    while True:
        try:
            return act()
        except AWAY as error:
            if lease.remaining() <= PAUSE:
                raise
            logger.warning("The database is away; the run is held on to meanwhile: %s", error)
            time.sleep(PAUSE)


def fit(segment: Segment, text: str) -> str | Stored:
    """The text as the journal can hold it, stored where it is long."""
    if len(text) * payloads.WIDEST <= segment.inline:
        return text
    return patiently(segment.holder.lease, lambda: payloads.fit(text, tenant=segment.tenant, run=segment.run))


def recorded(segment: Segment, closing: Closing, plans: Sequence[Planned]) -> StepRow | None:
    """See to it that an attempt whose closing met an outage is closed; the step that this closing opened, if it did.

    Its commit may have gone through unheard, so the journal is read first. Nothing new is opened here: what was allowed
    before the outage is judged again.
    """
    return patiently(segment.holder.lease, lambda: _recorded(segment, closing, plans))


def _recorded(segment: Segment, closing: Closing, plans: Sequence[Planned]) -> StepRow | None:
    segment.renew()
    fence = segment.holder.lease.fence
    ours = [step for step in segment.journal.steps if step.open_attempt and step.open_attempt.fence == fence]
    if closing.step not in {step.seq for step in ours}:
        return next(iter(ours), None)
    segment.holder.close_turn_and_open(closing, plans=plans)
    return None
