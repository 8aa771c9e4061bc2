"""Where attempts lie: a step's latest in its own row, the former ones beside it, all of them in one view."""

from importlib import import_module

import pytest
from django.db import connection, transaction

from runs.entries import Closing, Opening
from runs.models import Attempt, FormerAttempt, Step
from tenants.scope import scope
from tests.cast.journal import Started, ask, call

pytestmark = pytest.mark.django_db

FAILED = Closing(2, "started", cause="server", message="503", not_done=False, delay=0)
MIGRATION = import_module("runs.migrations.0012_latest_attempt_in_its_steps_row")


def _attempts(run: Started) -> list[tuple[int, str, str, bool]]:
    with scope(run.tenant):
        found = Attempt.objects.filter(run_id=run.id, seq=2).order_by("number")
        return [(each.number, each.key, each.cause, each.closed_at is None) for each in found]


def _former(run: Started) -> list[int]:
    with scope(run.tenant):
        return list(FormerAttempt.objects.filter(run_id=run.id).order_by("number").values_list("number", flat=True))


def _as_before(run: Started) -> None:
    """Put every attempt where the release before kept it."""
    columns = (
        "tenant_id, run_id, seq, number, kind, fence, key, opened_at, closed_at, cause, message, not_done, next_at"
    )
    with scope(run.tenant), connection.cursor() as cursor:
        left_out = "(SELECT FROM runs_formerattempt f WHERE (f.seq, f.number) = (a.seq, a.number))"
        latest = f"SELECT {columns} FROM runs_attempt a WHERE NOT EXISTS {left_out}"
        cursor.execute(f"INSERT INTO runs_formerattempt ({columns}) {latest}")
        Step.objects.filter(run_id=run.id).update(
            last_kind=None, last_fence=None, last_key=None, last_opened_at=None, last_closed_at=None
        )


def test_a_second_attempt_puts_the_first_beside_its_step_and_both_are_read(run: Started) -> None:
    door = run.hold()
    ask(door, call(), opening=Opening(2, key="k1"))
    assert (_attempts(run), _former(run)) == ([(1, "k1", "", True)], [])
    door.close(FAILED)
    door.open(Opening(2, key="k2"))
    assert (_attempts(run), _former(run)) == ([(1, "k1", "server", False), (2, "k2", "", True)], [1])
    assert run.journal.step(2).attempts == door.journal.step(2).attempts


def test_what_a_worker_had_in_hand_while_the_release_changed_is_closed_by_it(run: Started) -> None:
    door = run.hold()
    ask(door, call(), opening=Opening(2, key="k1"))
    before = run.journal.step(2).attempts
    _as_before(run)
    with scope(run.tenant), connection.cursor() as cursor:
        cursor.execute(MIGRATION.IN_HAND)
        cursor.execute(MIGRATION.NO_LONGER_FORMER)
    assert (run.journal.step(2).attempts, len(_former(run))) == (before, 1)  # The turn's own, which had been closed.
    door.close(Closing(2, "completed", result="paid"))
    assert _attempts(run) == [(1, "k1", "", False)]


def test_a_step_whose_attempts_lie_beside_it_since_before_goes_on_with_the_next_number(run: Started) -> None:
    door = run.hold()
    ask(door, call(), opening=Opening(2, key="k1"))
    door.close(FAILED)
    _as_before(run)
    assert run.journal.step(2).attempts == door.journal.step(2).attempts
    door.open(Opening(2, key="k2"))
    door.close(Closing(2, "completed", result="paid"))
    assert _attempts(run) == [(1, "k1", "server", False), (2, "k2", "", False)]


def test_nothing_is_closed_twice(run: Started) -> None:
    door = run.hold()
    ask(door, call(), opening=Opening(2, key="k1"))
    kept = door.journal
    door.close(Closing(2, "completed", result="paid"))
    door.journal = kept
    events = run.events()
    with pytest.raises(Exception, match=r"step 2 of run .* has no open attempt"), transaction.atomic():
        door.close(Closing(2, "completed", result="paid"))
    assert run.events() == events


def test_a_worker_of_the_release_before_writes_usage_that_adds_up(run: Started) -> None:
    door = run.hold()
    ask(door, call())
    turn = door.open_turn()
    types = "uuid uuid bigint jsonb bigint text text text text bool float8 timestamptz text jsonb bigint bigint numeric"
    values = (run.tenant, run.id, door.lease.fence, door._who[3], turn.seq, "completed", "", "", "", None, None, None)
    given = [*values, "x", None, 5, 1, None, ""]
    call_as_before = ", ".join(f"%s::{name}" for name in f"{types} text".split()) + ", NULL" * 20
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT journal_boundary({call_as_before})", given)
    assert (run.journal.step(turn.seq).tokens_in, run.journal.tokens) == (5, 6)
