"""The answer that ends a run and the run's end are one commit, unless somebody was quicker."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from runs import commands, payloads
from runs.entries import Closing, Stored
from runs.journal import Halted, LostLease
from runs.models import Text
from tenants.scope import scope
from tests.cast.journal import Started, lapse

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

LAST = Closing(1, "completed", result="All is done.")


def _commits(run: Started, *names: str) -> int:
    """How many commits wrote these events."""
    with scope(run.tenant), connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(DISTINCT xmin::text) FROM tenants_event"
            " WHERE subject = subject_of_run(%s) AND name = ANY (%s)",
            [run.id, list(names)],
        )
        found, commits = cursor.fetchone()
    assert found == len(names)
    return int(commits)


def test_the_last_answer_and_the_end_are_one_commit(run: Started) -> None:
    door = run.hold()
    door.open_turn()
    door.close_and_succeed(LAST, "All is done.")
    assert _commits(run, "step.completed", "run.succeeded") == 1
    assert (run.row.status, run.journal.step(1).status, run.journal.step(1).result) == (
        "succeeded",
        "completed",
        "All is done.",
    )
    with scope(run.tenant):
        assert Text.objects.get(run_id=run.id, name="result").body == "All is done."
    assert run.events()[-2:] == ["step.completed", "run.succeeded"]


def test_the_last_answer_is_recorded_where_the_run_was_stopped_meanwhile(run: Started) -> None:
    door = run.hold()
    door.open_turn()
    run.do(commands.cancel)
    with pytest.raises(Halted):
        door.close_and_succeed(LAST, "All is done.")
    assert (run.row.status, run.journal.step(1).result) == ("cancelled", "All is done.")


def test_nothing_is_written_where_the_lease_was_lost(run: Started) -> None:
    door = run.hold()
    door.open_turn()
    lapse(run)
    before = run.events()
    with pytest.raises(LostLease):
        door.close_and_succeed(LAST, "All is done.")
    assert (run.row.status, run.journal.step(1).status, run.events()) == ("running", "started", before)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_long_result_refers_to_all_of_it(run: Started, settings: Any, tmp_path: Path, at_once: bool) -> None:
    """Its beginning alone stood there, and nothing said that it was cut."""
    settings.STORAGE_URL = tmp_path.as_uri()
    door = run.hold()
    door.open_turn()
    whole = payloads.fit("x" * 100_000, tenant=run.tenant, run=run.id)
    assert isinstance(whole, Stored)
    last = Closing(1, "completed", result=whole)
    if at_once:
        door.close_and_succeed(last, whole.beginning)
    else:
        door.close(last)
        door.finish("succeeded", result=whole.beginning, asked=False)
    with scope(run.tenant):
        text = Text.objects.get(run_id=run.id, name="result")
    assert (text.body, text.payload) == (whole.beginning, whole.payload)
    assert len(payloads.read(whole.payload, tenant=run.tenant)) == 100_000
