"""Prepared statements on one connection, by libpq itself: one, or several transactions in one round trip.

A cursor's Python costs more than the statement, several times a step or an answer.
"""

import select
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors
from psycopg.abc import PQGen
from psycopg.abc import Transformer as Reader
from psycopg.adapt import AdaptersMap, Transformer
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult
from psycopg.types.datetime import TimestamptzLoader
from psycopg.waiting import Ready, Wait

Value = str | Sequence[str] | None
"""Every value travels as text and is cast in the query, so that one statement is prepared, whatever is NULL."""

Question = tuple[str, Sequence[Value]]
"""A query and its values."""

Beside = Callable[[list[list[PGresult]]], None]
"""What is done with the answers of the transactions before the last, while that is under way."""

Early = tuple[int, Callable[[list[PGresult]], None]]
"""How many of the first answers something is done with before the others are there, and what."""

Raw = psycopg.Connection[tuple[Any, ...]]


def ask(raw: Raw, query: str, values: Sequence[Value]) -> PGresult:
    """The answer to one statement. Raises what it says is wrong."""
    return good(raw, raw.pgconn.exec_prepared(_name(raw, query), _all(values)))


def ask_beside(raw: Raw, query: str, values: Sequence[Value], work: Callable[[], None]) -> PGresult:
    """As `ask`; `work` is done meanwhile. What it raises comes once the answer is there."""
    raw.pgconn.send_query_prepared(_name(raw, query), _all(values))
    try:
        raw.pgconn.flush()
        work()
    finally:
        answer = _only_answer(raw)
    return good(raw, answer)


def ask_after(
    raw: Raw, first: Question, query: str, values: Sequence[Value], work: Callable[[], None]
) -> list[PGresult]:
    """The answers to two statements in one transaction, be they errors; `work` is done as by `ask_beside`.

    What `ask_all` does of more, for what a worker asks at each of its steps.
    """
    (first_name, first_values), (name, sent) = _named(raw, *first), _named(raw, query, values)
    pgconn = raw.pgconn
    raised: BaseException | None = None
    pgconn.enter_pipeline_mode()
    try:
        pgconn.send_query_prepared(first_name, first_values)
        pgconn.send_query_prepared(name, sent)
        pgconn.pipeline_sync()
        try:
            work()
        except BaseException as error:
            raised = error
        (answers,) = _answers(raw, 1)
    except BaseException:
        raw.close()  # Answers may be under way still, and nobody would know to what.
        raise
    pgconn.exit_pipeline_mode()
    if raised:
        raise raised
    return answers


def ask_all(raw: Raw, transactions: Sequence[Sequence[Question]], beside: Beside | None = None) -> list[list[PGresult]]:
    """What each transaction was answered, in order, be it an error; `beside` is done before the last has ended. What it
    raises comes once all answers are there."""
    named = [[_named(raw, *question) for question in each] for each in transactions]
    raised: BaseException | None = None
    raw.pgconn.enter_pipeline_mode()
    try:
        for questions in named:
            for name, values in questions:
                raw.pgconn.send_query_prepared(name, values)
            raw.pgconn.pipeline_sync()
        answers = _answers(raw, len(named) - 1) if beside else []
        if beside and all(is_good(answer) for each in answers for answer in each):
            raised = _raised(beside, answers)
        answers += _answers(raw, 1 if beside else len(named))
    except BaseException:
        raw.close()  # As above.
        raise
    raw.pgconn.exit_pipeline_mode()
    if raised:
        raise raised
    return answers


def _raised(beside: Beside, answers: list[list[PGresult]]) -> BaseException | None:
    try:
        beside(answers)
    except BaseException as error:
        return error
    return None


def ask_early(raw: Raw, questions: Sequence[Question], before: int, early: Early) -> list[PGresult]:
    """What one transaction was answered, be it an error; `early` is about what follows the first `before`."""
    count, hear = early
    named = [_named(raw, *question) for question in questions]
    raw.pgconn.enter_pipeline_mode()
    try:
        for place, (name, values) in enumerate(named, 1):
            raw.pgconn.send_query_prepared(name, values)
            if place == before + count:
                raw.pgconn.send_flush_request()
        raw.pgconn.pipeline_sync()
        _flush(raw)
        answers = [_next_answer(raw) for _ in range(before + count)]
        if all(map(is_good, answers)):
            hear(answers[before:])
        answers += _answers(raw, 1)[0]
    except BaseException:
        raw.close()  # As above.
        raise
    raw.pgconn.exit_pipeline_mode()
    return answers


@dataclass(frozen=True)
class _Reading:
    """What answers are read by: the connection's own adapters, but for times psycopg's loader. Django's is written in
    Python and gives the same, since the zone of its connections is UTC."""

    connection: Raw
    adapters: AdaptersMap


def reader(raw: Raw) -> Reader:
    """What reads all answers of a connection: to find each type's loader anew took as long as to read the rows."""
    found: Reader | None = vars(raw).get("_read_by_us")
    if found is None:
        reading = _Reading(raw, AdaptersMap(raw.adapters))
        reading.adapters.register_loader("timestamptz", TimestamptzLoader)
        found = vars(raw)["_read_by_us"] = Transformer(reading)
    return found


def _only_answer(raw: Raw) -> PGresult:
    """The result of the only statement that was sent."""
    try:
        _flush(raw)
        found = _next_answer(raw)
        while raw.pgconn.get_result() is not None:
            pass
    except BaseException:
        raw.close()  # The answer may be under way still, and nobody would know to what.
        raise
    return found


def _answers(raw: Raw, ends: int) -> list[list[PGresult]]:
    """All results up to so many ends of transactions, by transaction."""
    found: list[list[PGresult]] = [[]]
    _flush(raw)
    while ends:
        result = _next_answer(raw)
        if result.status == ExecStatus.PIPELINE_SYNC:
            ends -= 1
            found.append([])
        else:
            found[-1].append(result)
    return found[:-1]


def _next_answer(raw: Raw) -> PGresult:
    """The next result, or in a pipeline the end of a transaction. What was sent is flushed."""
    pgconn = raw.pgconn
    while True:
        while pgconn.is_busy():
            _until_readable(raw)
            pgconn.consume_input()
        if (result := pgconn.get_result()) is not None:
            return result
        if pgconn.status == ConnStatus.BAD:
            raise psycopg.OperationalError("The connection broke before every statement was answered.")


def _flush(raw: Raw) -> None:
    """See to it that all is on its way."""
    if raw.pgconn.flush():
        raw.wait(_sent(raw.pgconn))


def _sent(pgconn: PGconn) -> PQGen[None]:
    """Send what did not fit; the server may have to be read from before it takes more."""
    while pgconn.flush():
        if (yield Wait.RW) & Ready.R:
            pgconn.consume_input()


def _until_readable(raw: Raw) -> None:
    """Wait for the server's next words. libpq's own waiting would keep all other threads from running."""
    kept = vars(raw)
    watched: select.poll | None = kept.get("_watched_by_us")
    if watched is None:
        watched = kept["_watched_by_us"] = select.poll()
        watched.register(raw.pgconn.socket, select.POLLIN)
    watched.poll()


def good(raw: Raw, result: PGresult) -> PGresult:
    """The answer, if it is one. Raises what it says is wrong."""
    if is_good(result):
        return result
    raise failure(raw, result)


_GOOD = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


def is_good(result: PGresult) -> bool:
    """Whether this is an answer and no error."""
    return result.status in _GOOD


def is_fatal(result: PGresult) -> bool:
    """Whether it is the error that undid its transaction; what came after it was not tried."""
    return result.status == ExecStatus.FATAL_ERROR


def begins(raw: Raw) -> bool:
    """Whether the transaction of `atomic` has yet to begin: it does with its first query."""
    return not raw.autocommit and raw.pgconn.transaction_status == TransactionStatus.IDLE


def begin(raw: Raw) -> None:
    """Begin it."""
    result = raw.pgconn.exec_(b"BEGIN")
    if result.status != ExecStatus.COMMAND_OK:
        raise failure(raw, result)


def _named(raw: Raw, query: str, values: Sequence[Value]) -> tuple[bytes, list[Any]]:
    """A statement as it is sent: what cannot be is found before anything is under way, and costs no connection."""
    return _name(raw, query), _all(values)


def _name(raw: Raw, query: str) -> bytes:
    names: dict[str, bytes] = vars(raw).setdefault("_prepared_by_us", {})
    return names.get(query) or _prepare(raw, names, query)


def _prepare(raw: Raw, names: dict[str, bytes], query: str) -> bytes:
    name = f"ours_{len(names)}".encode()
    result = raw.pgconn.prepare(name, query.encode())
    if result.status != ExecStatus.COMMAND_OK:
        raise failure(raw, result)
    names[query] = name
    return name


def failure(raw: Raw, result: PGresult) -> psycopg.Error:
    """What the answer says; where the connection broke under the query, libpq's answer has no code that says so."""
    error = errors.error_from_result(result, raw.info.encoding)
    if raw.pgconn.status == ConnStatus.BAD and not isinstance(error, psycopg.OperationalError):
        return psycopg.OperationalError(str(error))
    return error


def _all(values: Sequence[Value]) -> list[Any]:
    sent = [None if each is None else each.encode() if type(each) is str else _other(each) for each in values]
    if b"\0" in b"".join(filter(None, sent)):  # libpq would end the text at its first NUL, and say nothing.
        raise psycopg.DataError("A text for PostgreSQL cannot contain the character NUL.")
    return sent


def _other(value: str | Sequence[str]) -> bytes:
    """A text of a kind of its own, such as an enumeration's, or an array."""
    return value.encode() if isinstance(value, str) else _array(value)


def _array(values: Sequence[str]) -> bytes:
    quoted = ('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values)
    return ("{" + ",".join(quoted) + "}").encode()
