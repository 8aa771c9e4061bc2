"""After every race: the events, folded, give the rows."""

from collections.abc import Iterator

import pytest

from tests.cast.folding import demand_that_events_tell_the_rows
from tests.harness.database import NAME, owner


@pytest.fixture(autouse=True)
def _the_events_tell_what_the_rows_say(transactional_db: None) -> Iterator[None]:
    yield
    demand_that_events_tell_the_rows(owner(NAME))
