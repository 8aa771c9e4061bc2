"""Prepared statements: one round trip on the application's own connection, for what is asked many times a second.

libpq is called directly: a cursor's Python costs more than the statement, several times a step or an answer.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from django.db import OperationalError, connection
from psycopg import errors
from psycopg.adapt import Transformer
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

Value = str | Sequence[str] | None
"""Every value travels as text and is cast in the query, so that one statement is prepared, whatever is NULL."""

Row = TypeVar("Row")
Raw = psycopg.Connection[tuple[Any, ...]]

_prepared: WeakKeyDictionary[Raw, dict[str, bytes]] = WeakKeyDictionary()


def statement(function: str, types: str) -> str:
    """The query that calls `function` with values of these PostgreSQL types, in order."""
    values = ", ".join(f"${place}::{name}" for place, name in enumerate(types.split(), 1))
    return f"SELECT * FROM {function}({values})"  # noqa: S608  # Both are ours.


def one(query: str, values: Sequence[Value]) -> tuple[Any, ...]:
    """The only row of the answer."""
    (row,) = every(query, values)
    return row


def every(query: str, values: Sequence[Value]) -> list[tuple[Any, ...]]:
    """All rows of the answer."""
    return rows(query, values, tuple)


def rows(query: str, values: Sequence[Value], make: Callable[[Sequence[Any]], Row]) -> list[Row]:
    """All rows of the answer, each as `make` makes it."""
    result = run(query, values)
    reader = Transformer(connection.connection)
    reader.set_pgresult(result)
    return reader.load_rows(0, result.ntuples, make)


def run(query: str, values: Sequence[Value]) -> PGresult:
    """The answer as it came. Raises Django's database errors; a broken connection is given back first."""
    try:
        with connection.wrap_database_errors:
            return _run(_connection(), query, [_sent(value) for value in values])
    except OperationalError:
        if not connection.in_atomic_block:
            connection.close()  # The next call gets a living one from the pool.
        raise


def text(value: object) -> str | None:
    """The value as it travels."""
    return None if value is None else str(value)


def _run(raw: Raw, query: str, values: list[Any]) -> PGresult:
    if not raw.autocommit and raw.pgconn.transaction_status == TransactionStatus.IDLE:
        _begin(raw)  # The transaction of `atomic` begins with its first query.
    names = _prepared.setdefault(raw, {})
    name = names.get(query) or _prepare(raw, names, query)
    result = raw.pgconn.exec_prepared(name, values)
    if result.status == ExecStatus.TUPLES_OK:
        return result
    raise _error(raw, result)


def _begin(raw: Raw) -> None:
    if all(mode is None for mode in (raw.isolation_level, raw.read_only, raw.deferrable)):
        result = raw.pgconn.exec_(b"BEGIN")
        if result.status != ExecStatus.COMMAND_OK:
            raise errors.error_from_result(result, raw.info.encoding)
    else:
        raw.execute("SELECT")


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


def _sent(value: Value) -> bytes | None:
    if value is None:
        return None
    return _bytes(value) if isinstance(value, str) else _array(value)


def _bytes(value: str) -> bytes:
    """libpq would end the text at its first NUL, and say nothing."""
    if "\0" in value:
        raise psycopg.DataError("A text for PostgreSQL cannot contain the character NUL.")
    return value.encode()


def _array(values: Sequence[str]) -> bytes:
    quoted = ('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values)
    return _bytes("{" + ",".join(quoted) + "}")


def _connection() -> Raw:
    """Django's connection of this thread."""
    if connection.connection is None:
        connection.ensure_connection()
    found: Raw = connection.connection
    return found
