"""After every fault: the events, folded, give the rows."""

from collections.abc import Iterator

import pytest

from tests.cast.folding import folded_and_recorded


@pytest.fixture(autouse=True)
def _the_events_tell_what_the_rows_say(request: pytest.FixtureRequest) -> Iterator[None]:
    if not {"workers", "own_workers"} & set(request.fixturenames):
        yield
        return
    request.getfixturevalue("transactional_db")  # Before this one, so that the rows are still there afterwards.
    yield
    told, recorded = folded_and_recorded()
    assert recorded, "a test with workers starts a run"
    assert told == recorded
