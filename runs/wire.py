"""Calls of the journal's SQL functions: prepared, one round trip, on the application's own connection."""

from collections.abc import Sequence
from typing import Any

import psycopg
from django.db import OperationalError, connection

Value = str | list[str] | list[str | None] | None
"""Every value travels as text and is cast in the query, so that one statement is prepared, whatever is NULL."""


def statement(function: str, types: str) -> str:
    """The query that calls `function` with values of these PostgreSQL types, in order."""
    values = ", ".join(f"%s::{name}" for name in types.split())
    return f"SELECT * FROM {function}({values})"  # noqa: S608  # Both are ours.


def one(query: str, values: Sequence[Value]) -> tuple[Any, ...]:
    """The only row of the answer."""
    found = _run(query, values).fetchone()
    assert found is not None
    return found


def every(query: str, values: Sequence[Value]) -> list[tuple[Any, ...]]:
    """All rows of the answer."""
    return _run(query, values).fetchall()


def text(value: object) -> str | None:
    """The value as it travels."""
    return None if value is None else str(value)


def _run(query: str, values: Sequence[Value]) -> "psycopg.Cursor[tuple[Any, ...]]":
    raw = _connection()
    try:
        with connection.wrap_database_errors:
            return psycopg.Cursor(raw).execute(query.encode(), values, prepare=True)
    except OperationalError:
        if not connection.in_atomic_block:
            connection.close()  # The next call gets a living one from the pool.
        raise


def _connection() -> "psycopg.Connection[tuple[Any, ...]]":
    """Django's connection of this thread, without its cursors: those neither prepare nor bind in the server."""
    if connection.connection is None:
        connection.ensure_connection()
    raw: psycopg.Connection[tuple[Any, ...]] = connection.connection
    if raw.prepare_threshold is None:
        raw.prepare_threshold = 0
    return raw
