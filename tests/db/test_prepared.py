"""Statements sent together: one round trip, each transaction on its own."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import DataError, connection, connections

from approvals import decisions
from approvals.models import ApprovalRequest
from runs import beginning, leases
from runs.entries import Closing
from tenants import prepared
from tenants.models import Member, Tenant
from tenants.scope import ENTER, scope
from tests.cast import journal
from tests.cast.journal import KNOWS
from tests.cast.people import actor

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


_BACKEND = ("SELECT pg_backend_pid()", ())


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_a_text_that_cannot_be_sent_is_refused_and_the_connection_goes_on(text: str) -> None:
    before = prepared.one(*_BACKEND)
    with pytest.raises((DataError, UnicodeEncodeError)):
        prepared.run_after((ENTER, ("acme",)), "SELECT $1::text", (text,), _nothing)
    assert prepared.one(*_BACKEND) == before
    assert prepared.one(_TENANT, ()) == ("none",)


def _nothing() -> None:
    """What is done meanwhile here."""


def _fails() -> None:
    raise LookupError


def test_what_is_done_meanwhile_and_fails_leaves_the_connection_and_what_was_asked(acme: Tenant) -> None:
    rename = "UPDATE tenants_tenant SET name = 'Renamed' WHERE id = $1::uuid RETURNING id"
    before = prepared.one(*_BACKEND)
    with pytest.raises(LookupError):
        prepared.run_after((ENTER, (str(acme.pk),)), rename, (str(acme.pk),), _fails)
    assert prepared.one(*_BACKEND) == before
    acme.refresh_from_db()
    assert acme.name == "Renamed"


def test_a_run_is_taken_up_in_one_round_trip(acme: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.switch_on(acme)
    run = journal.begin(acme)
    trips: list[str] = []
    for name in ("_run", "_together", "_several"):
        asked = getattr(prepared, name)
        monkeypatch.setattr(prepared, name, lambda *args, name=name, asked=asked: trips.append(name) or asked(*args))
    found = beginning.begin(run.tenant, run.id, worker="worker:1", knows=KNOWS)
    assert found is not None
    assert (found.journal().run.status, trips) == ("running", ["_several"])
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


_FAILS = ("SELECT 1 / $1::int", ("0",))


def _renamed(name: str, *, and_then: Callable[[], Any] = str) -> None:
    prepared.later("UPDATE tenants_tenant SET name = $1::text RETURNING id", (name,))
    and_then()


def _keep(name: str) -> str:
    return f"SELECT set_config('test.{name}', $1::text, true)"


def _kept(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s, true)", [f"test.{name}"])
        return str(cursor.fetchone()[0])


def test_what_is_put_off_goes_before_the_next_statement_in_its_order(acme: Tenant) -> None:
    heard: list[Any] = []
    with scope(acme.pk):
        for word in ("first", "second"):
            prepared.later(_keep("order"), (word,), heard.append)
        assert heard == []
        assert prepared.one("SELECT current_setting('test.order')", ()) == ("second",)
        assert heard == [("first",), ("second",)]


def test_what_is_put_off_goes_before_a_query_of_the_orm(acme: Tenant) -> None:
    with scope(acme.pk):
        prepared.later(_keep("seen"), ("by the next",))
        assert _kept("seen") == "by the next"


def test_what_is_put_off_is_committed_where_nothing_follows(acme: Tenant) -> None:
    with scope(acme.pk):
        _renamed("Renamed")
    acme.refresh_from_db()
    assert acme.name == "Renamed"


def _fail() -> None:
    raise DataError


def test_what_is_put_off_is_forgotten_where_the_scope_fails(acme: Tenant) -> None:
    with pytest.raises(DataError), scope(acme.pk):
        _renamed("Lost", and_then=_fail)
    with scope(acme.pk):
        assert Tenant.objects.get(pk=acme.pk).name == acme.name


def test_what_is_put_off_and_fails_undoes_its_scope(acme: Tenant) -> None:
    with pytest.raises(DataError), scope(acme.pk):
        _renamed("Lost", and_then=lambda: prepared.later(*_FAILS))
    with scope(acme.pk):
        assert Tenant.objects.get(pk=acme.pk).name == acme.name


def test_an_inner_scope_sends_what_the_outer_one_put_off_under_its_own_tenant(acme: Tenant, globex: Tenant) -> None:
    heard: list[Any] = []
    with scope(acme.pk):
        prepared.later(_TENANT, (), heard.append)
        with scope(globex.pk):
            prepared.later(_TENANT, (), heard.append)
        prepared.later(_TENANT, (), heard.append)
    assert heard == [(str(acme.pk),), (str(globex.pk),), (str(acme.pk),)]


def test_a_scope_that_asks_nothing_leaves_nothing_behind(acme: Tenant) -> None:
    with scope(acme.pk):
        pass
    assert prepared.one(_TENANT, ()) == ("none",)


def test_an_answer_takes_two_round_trips(
    parked: ApprovalRequest, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lock and what is read under it; what is written, with the audit's entry and the commit."""
    trips: list[str] = []

    def counted(name: str) -> Callable[..., Any]:
        sent = getattr(prepared, name)
        return lambda *args: trips.append(name) or sent(*args)  # type: ignore[func-returns-value]

    def beside(*_args: Any, **_more: Any) -> Any:
        pytest.fail("A query went beside the round trips that are counted.")

    for name in ("_sent_early", "_sent_together"):
        monkeypatch.setattr(prepared, name, counted(name))
    monkeypatch.setattr(psycopg.Cursor, "execute", beside)
    values = {"decision": "approve", "version": 1, "channel": "page"}
    decided = decisions.decide(parked.pk, tenant=parked.tenant_id, actor=actor(alice), **values)
    assert (decided.request.status, trips) == ("approved", ["_sent_early", "_sent_together"])


class Latch:
    """A lock of another session: a statement that takes it waits until it is opened."""

    take = prepared.statement("pg_advisory_xact_lock", "bigint"), ("4711",)

    def __init__(self) -> None:
        self.other = psycopg.connect(**connections["default"].get_connection_params())  # type: ignore[attr-defined]
        self.other.execute("SELECT pg_advisory_xact_lock(4711)")

    def open(self) -> None:
        self.other.close()


def _broken() -> None:
    raise ZeroDivisionError


def test_work_is_done_beside_a_statement_and_what_it_raises_comes_after_the_answer() -> None:
    latch = Latch()
    prepared.run_beside(*latch.take, latch.open)  # It would never be answered, were the work to come after it.
    with pytest.raises(ZeroDivisionError):
        prepared.run_beside("SELECT set_config('test.kept', $1::text, false)", ("kept",), _broken)
    assert prepared.one("SELECT current_setting('test.kept', true)", ()) == ("kept",)


def test_a_statement_that_fails_beside_work_is_told_and_the_connection_goes_on() -> None:
    with pytest.raises(DataError):
        prepared.run_beside("SELECT 1 / $1::int", ("0",), lambda: None)
    assert prepared.one("SELECT $1::text", ("still here",)) == ("still here",)


def test_work_is_done_beside_the_last_transaction_with_the_answers_of_those_before_it() -> None:
    latch, seen = Latch(), []

    def work(answers: Any) -> None:
        seen.extend(_said(answers[0]))
        latch.open()

    last = ("SELECT $1::text", ("last",))
    assert _said(prepared.together([[("SELECT $1::text", ("first",))], [latch.take, last]], work))[-1] == "last"
    assert seen == ["first"]


def test_no_work_is_done_with_answers_that_did_not_come() -> None:
    done: list[Any] = []
    with pytest.raises(DataError):
        prepared.together([[("SELECT 1 / $1::int", ("0",))], [("SELECT $1::text", ("last",))]], done.append)
    assert done == []
    assert prepared.one("SELECT $1::text", ("still here",)) == ("still here",)


def test_the_first_answers_are_heard_while_the_others_are_under_way(acme: Tenant) -> None:
    latch, seen = Latch(), []

    def hear(answers: Any) -> None:
        seen.extend(_said(answers))
        latch.open()  # The others would never be answered, were this to come after them.

    with scope(acme.pk):
        answers = prepared.several([(_TENANT, ()), latch.take, ("SELECT $1::text", ("last",))], early=(1, hear))
        assert (seen, _said(answers)[0], _said(answers)[-1]) == ([str(acme.pk)], str(acme.pk), "last")


@pytest.mark.parametrize("place", [0, 1])
def test_nothing_is_heard_early_of_what_failed(acme: Tenant, place: int) -> None:
    heard: list[Any] = []
    questions: list[prepared.Question] = [(_TENANT, ()), (_TENANT, ())]
    questions[place] = "SELECT 1 / $1::int", ("0",)
    with pytest.raises(DataError), scope(acme.pk):
        prepared.several(questions, early=(1, heard.append))
    assert len(heard) == place
    assert prepared.one(_TENANT, ()) == ("none",), "the connection goes on"


def test_times_are_read_as_the_orm_reads_them() -> None:
    (at,) = prepared.one("SELECT $1::timestamptz", ("2026-03-29 01:30:00.000001+02:00",))
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [at])
        (found,) = cursor.fetchone()
    assert (at, at.tzinfo, at.isoformat()) == (found, found.tzinfo, "2026-03-28T23:30:00.000001+00:00")
