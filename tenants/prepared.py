"""Prepared statements: one round trip on the application's own connection, for what is asked many times a second.

libpq is called directly: a cursor's Python costs more than the statement, several times a step or an answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import errors
from psycopg.abc import PQGen
from psycopg.adapt import Transformer
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult
from psycopg.waiting import Ready, Wait

Value = str | Sequence[str] | None
"""Every value travels as text and is cast in the query, so that one statement is prepared, whatever is NULL."""

Question = tuple[str, Sequence[Value]]
"""A query and its values."""

Then = Callable[[tuple[Any, ...]], None]
"""What hears the only row that a statement gives which was put off."""

Row = TypeVar("Row")
Answers = list[PGresult] | psycopg.Error
"""What a transaction was answered, or the error that undid it."""

Beside = Callable[[list[list[PGresult]]], None]
"""What is done with the answers of the transactions before the last, while that is under way."""

Answer = TypeVar("Answer")
Raw = psycopg.Connection[tuple[Any, ...]]


@dataclass(slots=True)
class _Line:
    """What is kept on a connection: its prepared statements, and what was put off."""

    names: dict[str, bytes] = field(default_factory=dict)
    waiting: list[tuple[Question, Then | None]] = field(default_factory=list)


def _line(raw: Raw | None) -> _Line:
    kept = vars(raw) if raw is not None else {}
    found: _Line | None = kept.get("_ours")
    if found is None:
        found = kept["_ours"] = _Line()
    return found


def _here() -> _Line:
    """That of this thread's connection; without one nothing waits."""
    return _line(connections[DEFAULT_DB_ALIAS].connection)


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
    reader = Transformer(connection.connection)
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


def several(questions: Sequence[Question]) -> list[PGresult]:
    """The answers of all statements, sent at once in the transaction in hand; each sees what is committed by then."""
    return _guarded(lambda raw: _several(raw, questions))


def later(query: str, values: Sequence[Value], then: Then | None = None) -> None:
    """Send it with the next statement of this scope, at the latest before its commit; `then` hears the answer.

    For what nobody waits for: statements keep their order, and one that fails raises where it is sent. Inside a scope
    only, which lets it go where it ends by an exception.
    """
    _guarded(lambda raw: _line(raw).waiting.append(((query, values), then)))


def flush(*, commit: bool = False) -> None:
    """Send what was put off; with `commit` the end of the transaction goes with it, where there is anything to send."""
    if _here().waiting:
        _guarded(lambda raw: _several(raw, [("COMMIT", ())] if commit else []))


def forget() -> None:
    """Let go what was put off."""
    _here().waiting = []


def together(transactions: Sequence[Sequence[Question]], beside: Beside | None = None) -> list[PGresult]:
    """The answers of all statements, sent at once; each inner sequence is one transaction, begun after the former.

    Outside a transaction only. One that fails leaves the others be; then the first error is raised, as by `run`.
    `beside` is done with the answers of all transactions but the last while PostgreSQL is at that; it may ask nothing.
    """
    return _guarded(lambda raw: _together(raw, transactions, beside))


def apart(transactions: Sequence[Sequence[Question]]) -> list[Answers]:
    """As `together`, but each transaction answers for itself: by its answers, or by the error that undid it."""
    return _guarded(lambda raw: [_each_good(raw, answers) for answers in _sent(raw, transactions)])


def _guarded(act: Callable[[Raw], Answer]) -> Answer:
    here = connections[DEFAULT_DB_ALIAS]  # Django's of this thread; the proxy would look it up for each of its names.
    try:
        with here.wrap_database_errors:
            return act(_connection(here))
    except OperationalError:
        if not here.in_atomic_block:
            here.close()  # The next call gets a living one from the pool.
        raise


def text(value: object) -> str | None:
    """The value as it travels."""
    return None if value is None else str(value)


def _run(raw: Raw, query: str, values: Sequence[Value]) -> PGresult:
    if _line(raw).waiting:
        return _several(raw, [(query, values)])[0]
    if _begins(raw):
        _begin(raw)  # The transaction of `atomic` begins with its first query.
    return _good(raw, raw.pgconn.exec_prepared(_name(raw, query), _all(values)))


def _run_beside(raw: Raw, query: str, values: Sequence[Value], work: Callable[[], None]) -> PGresult:
    line = _line(raw)
    if line.waiting or _begins(raw):
        found = _run(raw, query, values)
        work()
        return found
    raw.pgconn.send_query_prepared(_name(raw, query), _all(values))
    try:
        raw.pgconn.flush()
        work()
    finally:
        answer = _only_answer(raw)
    return _good(raw, answer)


def _only_answer(raw: Raw) -> PGresult:
    try:
        return raw.wait(_one_answer(raw.pgconn))
    except BaseException:
        raw.close()  # The answer may be under way still, and nobody would know to what.
        raise


def _one_answer(pgconn: PGconn) -> PQGen[PGresult]:
    """The result of the only statement that was sent."""
    while pgconn.flush():
        if (yield Wait.RW) & Ready.R:
            pgconn.consume_input()
    while pgconn.is_busy():
        yield Wait.R
        pgconn.consume_input()
    found = pgconn.get_result()
    while pgconn.get_result() is not None:
        pass
    if found is None:
        raise psycopg.OperationalError("The connection broke before the statement was answered.")
    return found


def _several(raw: Raw, questions: Sequence[Question]) -> list[PGresult]:
    """What was put off, then the questions, whose answers are given; the transaction begins with the first."""
    line = _line(raw)
    waiting, line.waiting = line.waiting, []
    first: list[Question] = [("BEGIN", ())] if _begins(raw) else []
    sent = [*first, *(question for question, _then in waiting), *questions]
    answers = _sent_together(raw, [sent])[len(first) :]
    for (_question, then), answer in zip(waiting, answers, strict=False):
        if then:
            then(*read(answer, tuple))
    return answers[len(waiting) :]


def _together(raw: Raw, transactions: Sequence[Sequence[Question]], beside: Beside | None) -> list[PGresult]:
    return _sent_together(raw, transactions, beside)


def _sent_together(
    raw: Raw, transactions: Sequence[Sequence[Question]], beside: Beside | None = None
) -> list[PGresult]:
    return [_good(raw, answer) for answers in _sent(raw, transactions, beside) for answer in answers]


def _each_good(raw: Raw, answers: Sequence[PGresult]) -> Answers:
    failed = next((each for each in answers if each.status == ExecStatus.FATAL_ERROR), None)
    return list(answers) if failed is None else _error(raw, failed)


def _sent(raw: Raw, transactions: Sequence[Sequence[Question]], beside: Beside | None = None) -> list[list[PGresult]]:
    """What each transaction was answered, in order."""
    named = [[(_name(raw, query), values) for query, values in each] for each in transactions]
    raw.pgconn.enter_pipeline_mode()
    try:
        for questions in named:
            for name, values in questions:
                raw.pgconn.send_query_prepared(name, _all(values))
            raw.pgconn.pipeline_sync()
        answers = raw.wait(_answers(raw.pgconn, len(named) - 1)) if beside else []
        if beside and all(_is_good(answer) for each in answers for answer in each):
            beside(answers)
        answers += raw.wait(_answers(raw.pgconn, 1 if beside else len(named)))
    except BaseException:
        raw.close()  # Answers may be under way still, and nobody would know to what.
        raise
    raw.pgconn.exit_pipeline_mode()
    return answers


def _answers(pgconn: PGconn, ends: int) -> PQGen[list[list[PGresult]]]:
    """All results up to so many ends of transactions, by transaction."""
    found: list[list[PGresult]] = [[]]
    while pgconn.flush():
        if (yield Wait.RW) & Ready.R:
            pgconn.consume_input()
    while ends:
        while pgconn.is_busy():
            yield Wait.R
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is None:
            if pgconn.status == ConnStatus.BAD:
                raise psycopg.OperationalError("The connection broke before every statement was answered.")
        elif result.status == ExecStatus.PIPELINE_SYNC:
            ends -= 1
            found.append([])
        else:
            found[-1].append(result)
    return found[:-1]


def _good(raw: Raw, result: PGresult) -> PGresult:
    if _is_good(result):
        return result
    raise _error(raw, result)


def _is_good(result: PGresult) -> bool:
    return result.status in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


def _begins(raw: Raw) -> bool:
    return not raw.autocommit and raw.pgconn.transaction_status == TransactionStatus.IDLE


def _begin(raw: Raw) -> None:
    result = raw.pgconn.exec_(b"BEGIN")
    if result.status != ExecStatus.COMMAND_OK:
        raise _error(raw, result)


def _name(raw: Raw, query: str) -> bytes:
    names = _line(raw).names
    return names.get(query) or _prepare(raw, names, query)


def _prepare(raw: Raw, names: dict[str, bytes], query: str) -> bytes:
    name = f"ours_{len(names)}".encode()
    result = raw.pgconn.prepare(name, query.encode())
    if result.status != ExecStatus.COMMAND_OK:
        raise _error(raw, result)
    names[query] = name
    return name


def _error(raw: Raw, result: PGresult) -> psycopg.Error:
    """What the answer says; where the connection broke under the query, libpq's answer has no code that says so."""
    error = errors.error_from_result(result, raw.info.encoding)
    if raw.pgconn.status == ConnStatus.BAD and not isinstance(error, psycopg.OperationalError):
        return psycopg.OperationalError(str(error))
    return error


def _all(values: Sequence[Value]) -> list[Any]:
    sent = [None if each is None else each.encode() if isinstance(each, str) else _array(each) for each in values]
    if b"\0" in b"".join(filter(None, sent)):  # libpq would end the text at its first NUL, and say nothing.
        raise psycopg.DataError("A text for PostgreSQL cannot contain the character NUL.")
    return sent


def _array(values: Sequence[str]) -> bytes:
    quoted = ('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values)
    return ("{" + ",".join(quoted) + "}").encode()


def _connection(here: BaseDatabaseWrapper) -> Raw:
    if here.connection is None:
        here.ensure_connection()
    found: Raw = here.connection
    return found
