"""A run is purged whole though others write to it just then: they come before it or find nothing, and nobody blocks."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import connection, connections
from psycopg.errors import LockNotAvailable

from approvals.models import Delivery
from approvals.notifications import delivery
from runs import commands, purging
from runs.models import Run
from tenants.actors import COMMAND
from tenants.locks import hold
from tenants.models import Event, Member, Tenant
from tenants.scope import scope
from tests.cast.journal import Started, begin
from tests.cast.runs import so
from tests.db.runs.test_purge import age, left_of
from tests.db.runs.test_unsettled import lose
from tests.harness.workers import database_url

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

Elsewhere = Callable[[Callable[[], Any]], "Future[Any]"]


@pytest.fixture
def lost(run: Started, mona: Member) -> Started:
    """A run that ended a year ago with an outcome that nobody ever settled, and of which Mona is told."""
    lose(run)
    run.do(commands.cancel)
    age(run, days=366)
    return run


@pytest.fixture
def elsewhere() -> Any:
    """Does something in another thread, by a connection of its own."""

    def alone(deed: Callable[[], Any]) -> Any:
        try:
            return deed()
        finally:
            connections["default"].close()

    with ThreadPoolExecutor(2) as pool:
        yield lambda deed: pool.submit(alone, deed)


def claimed(run: Started) -> delivery.Claimed:
    with scope(run.tenant):
        row = Delivery.objects.get(kind="outcome_unknown")
    found = delivery.claim(run.tenant, row.pk)
    assert found is not None
    return found


def test_a_notice_whose_run_is_purged_while_it_leaves_writes_nothing(lost: Started) -> None:
    parcel = claimed(lost)
    assert purging.purge_all() == 1
    delivery.record(parcel, None)
    assert left_of(lost) == {}


def test_a_notice_that_was_sent_leaves_with_its_run_and_so_does_what_a_webhook_was_told(lost: Started) -> None:
    delivery.record(claimed(lost), None)
    with scope(lost.tenant):
        told = {"subject": f"run:{lost.id}", "seq": 1, "kind": "run.cancelled", "transport": "webhook"}
        Delivery.objects.create(tenant_id=lost.tenant, key=f"run:{lost.id}:1", address="hook", **told)
    assert "approvals_delivery" in left_of(lost)
    purging.purge_all()
    assert left_of(lost) == {}


def test_a_run_that_somebody_comments_on_just_now_is_purged_the_next_time_and_whole(
    lost: Started, elsewhere: Elsewhere
) -> None:
    with scope(lost.tenant):
        commands.comment(lost.id, text="Look at this.", actor=COMMAND)
        assert elsewhere(lambda: purging.purge(lost.tenant)).result(10) == 0
    with scope(lost.tenant):
        assert Event.objects.filter(subject=f"run:{lost.id}", name="run.commented").exists()
    assert purging.purge(lost.tenant) == 1
    assert left_of(lost) == {}


def test_a_run_that_is_in_hand_hinders_no_other(lost: Started, clerk: Tenant, elsewhere: Elsewhere) -> None:
    other = begin(clerk)
    other.do(commands.cancel)
    age(other, days=366)
    with scope(lost.tenant):
        hold(f"run:{lost.id}")
        assert elsewhere(lambda: purging.purge(lost.tenant)).result(10) == 1
        assert list(Run.objects.values_list("pk", flat=True)) == [lost.id]
    assert left_of(other) == {}


def _purge_by_position(tenant: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SET enable_indexscan = off")
        cursor.execute("SET enable_bitmapscan = off")
    try:
        return purging.purge(tenant)
    finally:  # The connection goes back to the pool, and to the next test.
        with connection.cursor() as cursor:
            cursor.execute("RESET enable_indexscan")
            cursor.execute("RESET enable_bitmapscan")


def _waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'purge'")
        return bool(cursor.fetchone() == (1,))


def test_leases_are_locked_in_everybodys_order_though_they_lie_in_another(clerk: Tenant, elsewhere: Elsewhere) -> None:
    """Whoever switches a webhook on locks them so; purged as they lay, each had what the other waited for."""
    first, second = sorted((begin(clerk), begin(clerk)), key=lambda run: run.id)
    for run in (first, second):
        run.do(commands.cancel)
        age(run, days=366)
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE runs_lease SET worked = worked + 1 WHERE run_id = %s", [first.id])
        cursor.execute("SELECT run_id FROM runs_lease ORDER BY ctid")
        assert [row[0] for row in cursor.fetchall()] == [second.id, first.id]
    with psycopg.connect(database_url("beside")) as beside:
        lock = "SELECT FROM runs_lease WHERE run_id = %s FOR UPDATE"
        beside.execute("SELECT set_config('app.tenant', %s, true)", [str(clerk.pk)])
        assert beside.execute(lock, [first.id]).rowcount == 1
        purged = elsewhere(lambda: _purge_by_position(clerk.pk))
        so(_waits_for_a_lock)
        beside.execute("SET LOCAL lock_timeout = '500ms'")
        try:
            beside.execute(lock, [second.id])
        except LockNotAvailable:
            pytest.fail("the purge holds what comes later and waits for what comes before: a circle")
    assert purged.result(10) == 2
