"""Leases that outlast a slow machine, and after every test the events, folded, give the rows.

In an uncommitted test the renewing thread sees no lease to renew.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cast.folding import demand_that_events_tell_the_rows_here


@pytest.fixture(autouse=True)
def _long_leases(settings: Any) -> None:
    settings.LEASE_SECONDS = 60.0


@pytest.fixture(autouse=True)
def _the_events_tell_what_the_rows_say(db: None) -> Iterator[None]:
    yield
    demand_that_events_tell_the_rows_here()
