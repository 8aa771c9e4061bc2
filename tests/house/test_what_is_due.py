"""What the sweeps ask for is found by an index, so it is compared with a clock that stands still in a statement."""

import pytest
from django.db import connection


def due_functions() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT proname, prosrc FROM pg_proc WHERE proname LIKE 'due\\_%' ORDER BY proname")
        return list(cursor.fetchall())


@pytest.mark.django_db
def test_no_sweep_asks_by_a_clock_that_runs_on() -> None:
    """PostgreSQL enters no index by a volatile function: a million requests were read to find none."""
    found = due_functions()
    assert {"due_requests", "due_parcels", "due_messages", "due_runs"} <= {name for name, _source in found}
    assert [name for name, source in found if "clock_timestamp" in source] == []
