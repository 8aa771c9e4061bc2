"""After every fault: the events, folded, give the rows."""

from collections.abc import Iterator

import pytest

from tests.cast.folding import demand_that_events_tell_the_rows
from tests.harness.database import NAME, owner


@pytest.fixture(autouse=True)
def _the_events_tell_what_the_rows_say(request: pytest.FixtureRequest) -> Iterator[None]:
    if not {"workers", "own_workers", "crew"} & set(request.fixturenames):
        yield
        return
    request.getfixturevalue("transactional_db")  # Before this one, so that the rows are still there afterwards.
    yield
    assert demand_that_events_tell_the_rows(owner(NAME)), "a test with workers starts a run"
