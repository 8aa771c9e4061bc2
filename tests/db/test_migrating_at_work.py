"""A migration beside workers of the release before: it waits for nobody in a circle, and keeps what it can."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db.migrations.state import ProjectState

from runs import functions
from tenants.tables import TakeTables
from tests.cast.runs import so
from tests.harness.database import NAME, owner

pytestmark = pytest.mark.django_db(transaction=True)

Owner = psycopg.Connection[tuple[object, ...]]
OURS = """
SELECT p.oid::regprocedure::text, p.oid FROM pg_proc p
 WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY (%s)
"""
NAMES = ["journal_boundary", "journal_in_hand", "lease_acquire", "lease_renew", "run_move"]
WAITS = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'runs_step'::regclass"


def _ours(connection: Owner) -> dict[object, object]:
    return dict(connection.execute(OURS, [NAMES]).fetchall())  # type: ignore[arg-type]


def _anew(connection: Owner) -> None:
    for statement in functions.anew():
        connection.execute(statement)


def test_a_function_that_keeps_its_shape_stays_the_one_that_a_session_is_at() -> None:
    with owner(NAME) as connection, connection.transaction(force_rollback=True):
        before = _ours(connection)
        _anew(connection)
        assert _ours(connection) == before
        assert len(before) == len(NAMES)


def test_a_function_of_another_shape_is_put_in_the_place_of_the_former() -> None:
    with owner(NAME) as connection, connection.transaction(force_rollback=True):
        before = _ours(connection)
        connection.execute("DROP FUNCTION journal_in_hand; DROP FUNCTION lease_renew")
        connection.execute("CREATE FUNCTION journal_in_hand(uuid, uuid) RETURNS int LANGUAGE sql AS 'SELECT 1'")
        connection.execute("CREATE FUNCTION lease_renew(int) RETURNS int LANGUAGE sql AS 'SELECT 1'")
        _anew(connection)
        assert _ours(connection).keys() == before.keys()


def _take() -> None:
    (statement,) = TakeTables("runs_run", "runs_step").forwards("runs", ProjectState())
    with owner(NAME) as connection, connection.transaction():
        connection.execute(statement)


def _works(then: Callable[[], object]) -> None:
    """As a step that is closed and parks its run: the one table, then the other."""
    with owner(NAME) as connection, connection.transaction():
        connection.execute("LOCK TABLE runs_step IN ROW EXCLUSIVE MODE")
        then()
        connection.execute("LOCK TABLE runs_run IN ROW EXCLUSIVE MODE")


def test_a_migration_and_whoever_is_at_work_do_not_wait_for_one_another() -> None:
    with ThreadPoolExecutor(1) as pool, owner(NAME) as watching:
        begun = []

        def then() -> None:
            begun.append(pool.submit(_take))
            so(lambda: watching.execute(WAITS).fetchall())

        _works(then)
        begun[0].result()
