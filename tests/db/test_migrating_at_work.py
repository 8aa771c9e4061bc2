"""A migration beside workers of the release before: it waits for nobody in a circle, and keeps what it can."""

import importlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db.migrations.state import ProjectState
from django.utils import timezone

from approvals.models import Channel, Delivery
from runs import functions
from runs.models import Lease, Run
from tenants.models import Event, Tenant
from tenants.scope import scope
from tenants.tables import TakeTables
from tests.cast.journal import Started
from tests.cast.runs import so
from tests.db.runs.test_unsettled import lose
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


MADE_UP = importlib.import_module("runs.migrations.0025_make_up_for_what_was_at_work")


def test_a_migration_waits_for_transactions_that_are_open_and_for_none_that_begins_later() -> None:
    with ThreadPoolExecutor(1) as pool, owner(NAME) as working, owner(NAME) as later:
        with working.transaction():
            working.execute("SELECT pg_current_xact_id()")
            waits = pool.submit(_made_up, MADE_UP.AWAIT)
            with pytest.raises(TimeoutError):
                waits.result(0.5)
            later.execute("BEGIN")
        waits.result(10)
        later.execute("ROLLBACK")


def _made_up(*statements: str) -> None:
    with owner(NAME) as connection, connection.transaction():
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("when", ["now", "long ago"])
def test_webhooks_are_told_once_what_was_appended_while_nobody_told_them(
    clerk: Tenant, run: Started, when: str
) -> None:
    with scope(clerk.pk):
        hook = Channel.objects.create(
            tenant_id=clerk.pk, kind="webhook", url="https://hooks.example/", events=["run.queued"], enabled=False
        )
        Channel.objects.filter(pk=hook.pk).update(enabled=True, created_at=Event.objects.earliest("at").at)
    assert _deliveries(clerk) == 0
    with owner(NAME) as connection:
        age = "1 minute" if when == "now" else "1 day"
        connection.execute(f"UPDATE django_migrations SET applied = now() - interval '{age}' WHERE app = 'runs'")
    _made_up(MADE_UP.TELL)
    _made_up(MADE_UP.TELL)
    assert _deliveries(clerk) == (1 if when == "now" else 0)


def _deliveries(tenant: Tenant) -> int:
    with scope(tenant.pk):
        return Delivery.objects.count()


def test_what_a_function_wrote_by_its_old_text_is_marked_afterwards(clerk: Tenant, run: Started) -> None:
    lose(run)
    with scope(clerk.pk):
        Run.objects.update(unsettled=False)
        Lease.objects.update(until=timezone.now(), heard=True)
    _made_up(MADE_UP.MARK, MADE_UP.HALT)
    with scope(clerk.pk):
        assert (Run.objects.get().unsettled, Lease.objects.get().halted) == (True, True)
