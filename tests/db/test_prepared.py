"""Statements sent together: one round trip, each transaction on its own."""

from typing import Any

import pytest
from django.db import DataError

from runs import beginning, leases
from runs.entries import Closing
from tenants import prepared
from tenants.models import Tenant
from tenants.scope import ENTER
from tests.cast import journal
from tests.cast.journal import KNOWS

pytestmark = pytest.mark.django_db(transaction=True)

_TENANT = "SELECT coalesce(nullif(current_setting('app.tenant', true), ''), 'none')"


def _said(answers: list[Any]) -> list[Any]:
    return [row[0] for answer in answers for row in prepared.read(answer, tuple)]


def test_the_statements_of_one_transaction_share_it_and_the_next_begins_anew() -> None:
    answers = prepared.together([[(ENTER, ("acme",)), (_TENANT, ())], [(_TENANT, ())]])
    assert _said(answers) == ["acme", "acme", "none"]


def test_a_transaction_that_fails_is_told_and_leaves_the_others_be() -> None:
    keep = "SELECT set_config('test.kept', $1::text, false)"
    with pytest.raises(DataError):
        prepared.together([[("SELECT 1 / $1::int", ("0",)), (keep, ("lost",))], [(keep, ("kept",))]])
    assert prepared.one("SELECT current_setting('test.kept', true)", ()) == ("kept",)


def test_a_run_is_taken_up_in_one_round_trip(acme: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.switch_on(acme)
    run = journal.begin(acme)
    trips: list[str] = []
    for name in ("_run", "_together"):
        asked = getattr(prepared, name)
        monkeypatch.setattr(prepared, name, lambda *args, name=name, asked=asked: trips.append(name) or asked(*args))
    found = beginning.begin(run.tenant, run.id, worker="worker:1", knows=KNOWS)
    assert found is not None
    assert (found.journal().run.status, trips) == ("running", ["_together"])
    assert found.journal() == run.journal
    leases.stopped(found.lease)


def test_a_run_that_is_held_is_not_taken_up(acme: Tenant) -> None:
    journal.switch_on(acme)
    run = journal.begin(acme)
    door = run.hold()
    turn = door.open_turn()
    door.close(Closing(turn.seq, "completed", result=""))
    assert beginning.begin(run.tenant, run.id, worker="worker:2", knows=KNOWS) is None
    door.give_back("tested")
