"""Prepared statements: one round trip on the application's own connection, for what is asked many times a second."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import psycopg
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.pq.abc import PGresult

from tenants import libpq
from tenants.here import database

Raw = libpq.Raw
Value = libpq.Value
Question = libpq.Question
Beside = libpq.Beside
Early = libpq.Early

Then = Callable[[tuple[Any, ...]], None]
"""What hears the only row that a statement gives which was put off."""

Answers = list[PGresult] | psycopg.Error
"""What a transaction was answered, or the error that undid it."""

Row = TypeVar("Row")
Answer = TypeVar("Answer")
_Waiting = list[tuple[Question, Then | None]]


def _waiting(raw: Raw | None) -> _Waiting:
    """What was put off on a connection; without one nothing waits."""
    kept = vars(raw) if raw is not None else {}
    found: _Waiting | None = kept.get("_waits_with_us")
    if found is None:
        found = kept["_waits_with_us"] = []
    return found


def _here() -> _Waiting:
    """What this thread has put off."""
    return _waiting(database().connection)


def statement(function: str, types: str) -> str:
    """The query that calls `function` with values of these PostgreSQL types, in order."""
    return f"SELECT * FROM {_call(function, types)}"  # noqa: S608  # Both are ours.


def expression(function: str, types: str) -> str:
    """As `statement`, its answer one value, a row in parentheses: several thousand instructions less in PostgreSQL."""
    return f"SELECT {_call(function, types)}"


def _call(function: str, types: str) -> str:
    values = ", ".join(f"${place}::{name}" for place, name in enumerate(types.split(), 1))
    return f"{function}({values})"


def one(query: str, values: Sequence[Value]) -> tuple[Any, ...]:
    """The only row of the answer."""
    (row,) = every(query, values)
    return row


def every(query: str, values: Sequence[Value]) -> list[tuple[Any, ...]]:
    """All rows of the answer."""
    return rows(query, values, tuple)


def rows(query: str, values: Sequence[Value], make: Callable[[Sequence[Any]], Row]) -> list[Row]:
    """All rows of the answer, each as `make` makes it."""
    return read(run(query, values), make)


def read(result: PGresult, make: Callable[[Sequence[Any]], Row]) -> list[Row]:
    """The rows of an answer that has come, each as `make` makes it."""
    reader = libpq.reader(database().connection)
    reader.set_pgresult(result)
    return reader.load_rows(0, result.ntuples, make)


def texts(result: PGresult) -> list[str | None]:
    """The values of an answer's only row as PostgreSQL writes them, for what is asked by thousands."""
    found = [result.get_value(0, place) for place in range(result.nfields)]
    return [None if value is None else value.decode() for value in found]


def run(query: str, values: Sequence[Value]) -> PGresult:
    """The answer as it came. Raises Django's database errors; a broken connection is given back first."""
    return _guarded(lambda raw: _run(raw, query, values))


def run_beside(query: str, values: Sequence[Value], work: Callable[[], None]) -> PGresult:
    """As `run`; `work` is done while PostgreSQL is at it, and may ask it nothing. What it raises comes afterwards."""
    return _guarded(lambda raw: _run_beside(raw, query, values, work))


def run_after(first: Question, query: str, values: Sequence[Value], work: Callable[[], None]) -> PGresult:
    """As `run_beside`, in one transaction after `first`, so that it sees what is committed once that was answered.

    Outside a transaction only.
    """
    return _guarded(lambda raw: _after(raw, first, query, values, work))


def several(questions: Sequence[Question], *, early: Early | None = None) -> list[PGresult]:
    """The answers of all statements, sent at once in the transaction in hand; each sees what is committed by then.

    `early` hears the first of the answers while PostgreSQL is at the others; it may ask nothing, and does not hear of
    what failed.
    """
    return _guarded(lambda raw: _several(raw, questions, early))


def later(query: str, values: Sequence[Value], then: Then | None = None) -> None:
    """Send it with the next statement of this scope, at the latest before its commit; `then` hears the answer.

    For what nobody waits for: statements keep their order, and one that fails raises where it is sent. Inside a scope
    only, which lets it go where it ends by an exception.
    """
    raw = database().connection or _guarded(lambda found: found)
    _waiting(raw).append(((query, values), then))


def flush(*, commit: bool = False) -> None:
    """Send what was put off; with `commit` the end of the transaction goes with it, where there is anything to send."""
    if _here():
        _guarded(lambda raw: _several(raw, [("COMMIT", ())] if commit else []))


def forget() -> None:
    """Let go what was put off."""
    _here().clear()


def together(transactions: Sequence[Sequence[Question]], beside: Beside | None = None) -> list[PGresult]:
    """The answers of all statements, sent at once; each inner sequence is one transaction, begun after the former.

    Outside a transaction only. One that fails leaves the others be; then the first error is raised, as by `run`.
    `beside` is done with the answers of all transactions but the last while PostgreSQL is at that; it may ask nothing.
    """
    return _guarded(lambda raw: _together(raw, transactions, beside))


def apart(transactions: Sequence[Sequence[Question]]) -> list[Answers]:
    """As `together`, but each transaction answers for itself: by its answers, or by the error that undid it."""
    return _guarded(lambda raw: [_each_good(raw, answers) for answers in libpq.ask_all(raw, transactions)])


def _guarded(act: Callable[[Raw], Answer]) -> Answer:
    here = database()
    try:
        with here.wrap_database_errors:
            return act(_connection(here))
    except BaseException as error:
        broken = isinstance(error, OperationalError) or (here.connection is not None and here.connection.closed)
        if broken and not here.in_atomic_block:
            here.close()  # The next call gets a living one from the pool.
        raise


def text(value: object) -> str | None:
    """The value as it travels."""
    return None if value is None else str(value)


def _run(raw: Raw, query: str, values: Sequence[Value]) -> PGresult:
    if _waiting(raw):
        return _several(raw, [(query, values)])[0]
    if libpq.begins(raw):
        libpq.begin(raw)
    return libpq.ask(raw, query, values)


def _run_beside(raw: Raw, query: str, values: Sequence[Value], work: Callable[[], None]) -> PGresult:
    if _waiting(raw) or libpq.begins(raw):
        found = _run(raw, query, values)
        work()
        return found
    return libpq.ask_beside(raw, query, values, work)


def _several(raw: Raw, questions: Sequence[Question], early: Early | None = None) -> list[PGresult]:
    """What was put off, then the questions, whose answers are given; the transaction begins with the first."""
    waiting = list(_waiting(raw))
    _waiting(raw).clear()
    first: list[Question] = [("BEGIN", ())] if libpq.begins(raw) else []
    sent = [*first, *(question for question, _then in waiting), *questions]
    before = len(sent) - len(questions)
    answers = _sent_early(raw, sent, before, early) if early else _sent_together(raw, [sent])
    answers = answers[len(first) :]
    for (_question, then), answer in zip(waiting, answers, strict=False):
        if then:
            then(*read(answer, tuple))
    return answers[len(waiting) :]


def _sent_early(raw: Raw, questions: Sequence[Question], before: int, early: Early) -> list[PGresult]:
    return [libpq.good(raw, answer) for answer in libpq.ask_early(raw, questions, before, early)]


def _after(raw: Raw, first: Question, query: str, values: Sequence[Value], work: Callable[[], None]) -> PGresult:
    answers = [libpq.good(raw, answer) for answer in libpq.ask_after(raw, first, query, values, work)]
    return answers[1]


def _together(raw: Raw, transactions: Sequence[Sequence[Question]], beside: Beside | None) -> list[PGresult]:
    return _sent_together(raw, transactions, beside)


def _sent_together(
    raw: Raw, transactions: Sequence[Sequence[Question]], beside: Beside | None = None
) -> list[PGresult]:
    return [libpq.good(raw, answer) for answers in libpq.ask_all(raw, transactions, beside) for answer in answers]


def _each_good(raw: Raw, answers: Sequence[PGresult]) -> Answers:
    failed = next((each for each in answers if libpq.is_fatal(each)), None)
    return list(answers) if failed is None else libpq.failure(raw, failed)


def _connection(here: BaseDatabaseWrapper) -> Raw:
    if here.connection is None:
        here.ensure_connection()
    found: Raw = here.connection
    return found
