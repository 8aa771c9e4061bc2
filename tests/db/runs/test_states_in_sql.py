"""PostgreSQL itself refuses what the state tables do not list: for the application's role, in plain SQL."""

from collections.abc import Iterator

import pytest
from django.db import IntegrityError, connection, transaction

from runs.models import Step
from runs.states import RUN, TOOL, TURN, Machine
from tenants.scope import scope
from tests.cast.journal import Started

pytestmark = pytest.mark.django_db


def _way(machine: Machine, goal: str) -> list[str]:
    """A shortest way from a first state to `goal`, both included."""
    ways = [[first] for first in sorted(machine.first)]
    for way in ways:
        if way[-1] == goal:
            return way
        ways += [[*way, new] for new in sorted(machine.moves[way[-1]]) if new not in way]
    raise AssertionError(f"{goal} cannot be reached")


def _set(table: str, key: str, value: object, status: str) -> bool:
    """Whether PostgreSQL lets the row have this state."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE {table} SET status = %s WHERE {key} = %s", [status, value])
            return cursor.rowcount == 1
    except IntegrityError:
        return False


@pytest.fixture(autouse=True)
def _the_events_tell_what_the_rows_say() -> None:
    """Not here: these rows are written past every door, without events."""


@pytest.fixture
def scoped(run: Started) -> Iterator[Started]:
    with scope(run.tenant):
        yield run


@pytest.mark.parametrize("old", sorted(RUN.states))
def test_a_run_moves_as_listed_and_no_other_way(scoped: Started, old: str) -> None:
    for new in sorted(RUN.states - {old}):
        with transaction.atomic():
            for state in _way(RUN, old)[1:]:
                assert _set("runs_run", "id", scoped.id, state)
            assert _set("runs_run", "id", scoped.id, new) == RUN.allows(old, new), f"{old} → {new}"
            transaction.set_rollback(True)


@pytest.mark.parametrize(
    ("kind", "machine"), [("tool_call", TOOL), ("model_turn", TURN), ("compaction", TURN), ("observation", TURN)]
)
def test_a_step_moves_as_listed_and_no_other_way(scoped: Started, kind: str, machine: Machine) -> None:
    for old in sorted(machine.states):
        for new in sorted((TOOL.states | TURN.states) - {old}):
            with transaction.atomic():
                first, *way = _way(machine, old)
                Step.objects.create(tenant_id=scoped.tenant, run_id=scoped.id, seq=1, kind=kind, status=first)
                for state in way:
                    assert _set("runs_step", "run_id", scoped.id, state)
                allowed = new in machine.moves[old]
                assert _set("runs_step", "run_id", scoped.id, new) == allowed, f"{kind}: {old} → {new}"
                transaction.set_rollback(True)


@pytest.mark.parametrize("status", sorted((TOOL.states | TURN.states) - {"planned", "started"}))
def test_a_step_begins_planned_or_planned_and_started(scoped: Started, status: str) -> None:
    for kind in ("tool_call", "model_turn"):
        with pytest.raises(IntegrityError, match="may not become"), transaction.atomic():
            Step.objects.create(tenant_id=scoped.tenant, run_id=scoped.id, seq=1, kind=kind, status=status)


@pytest.mark.parametrize("status", sorted(RUN.states - {"queued"}))
def test_a_run_begins_queued(scoped: Started, status: str) -> None:
    copy = scoped.row
    copy.pk, copy.status = None, status
    copy.id = type(copy)._meta.get_field("id").get_default()
    with pytest.raises(IntegrityError, match="may not become"), transaction.atomic():
        copy.save(force_insert=True)


@pytest.mark.parametrize("change", ["kind = 'model_turn'", "seq = 7"])
def test_a_step_stays_what_and_where_it_is(scoped: Started, change: str) -> None:
    Step.objects.create(tenant_id=scoped.tenant, run_id=scoped.id, seq=1, kind="tool_call", status="planned")
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE runs_step SET {change} WHERE run_id = %s", [scoped.id])
