"""A connection is new once: what takes, advances and stops a run is planned once on it, not for each of five runs."""

from uuid import uuid4

import pytest
from django.db import connection

from runs.beginning import begin
from tenants import prepared
from tenants.here import database
from tests.cast.journal import KNOWS, Started

pytestmark = pytest.mark.django_db


def _as_if_new() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
    vars(database().connection)["_prepared_by_us"] = {}


def test_what_is_read_with_a_run_that_is_taken_is_planned_once(run: Started) -> None:
    _as_if_new()
    assert begin(run.tenant, run.id, worker="worker:1", knows=KNOWS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements WHERE custom_plans > 0")
        anew = [statement for (statement,) in cursor.fetchall()]
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE generic_plans > 0")
        (once,) = cursor.fetchone() or ()
    assert [statement for statement in anew if "run_take" not in statement] == []  # Which says so to the others.
    assert once > 1


@pytest.mark.parametrize("function", ["journal_boundary", "journal_stop"])
def test_what_a_boundary_or_a_stop_asks_is_planned_once(function: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT proconfig FROM pg_proc WHERE proname = %s", [function])
        (settings,) = [set(found) for (found,) in cursor.fetchall()]
    assert settings >= {"plan_cache_mode=force_generic_plan", "enable_seqscan=off"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("case", ["granted", "held", "unknown run", "unknown tenant"])
def test_how_a_take_is_planned_is_nothing_to_what_follows_on_its_connection(run: Started, case: str) -> None:
    tenant = uuid4() if case == "unknown tenant" else run.tenant
    if case == "held":
        begin(run.tenant, run.id, worker="worker:2", knows=KNOWS)
    begun = begin(tenant, uuid4() if case == "unknown run" else run.id, worker="worker:1", knows=KNOWS)
    assert bool(begun) == (case == "granted")
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('plan_cache_mode'), current_setting('enable_seqscan')")
        assert cursor.fetchone() == ("auto", "on")


@pytest.mark.django_db(transaction=True)
def test_what_goes_wrong_beside_a_statement_leaves_a_connection_to_whoever_is_next() -> None:
    def hear(_answers: object) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        prepared.several([("SELECT 1", ())], early=(1, hear))
    assert prepared.one("SELECT 2", ()) == (2,)
