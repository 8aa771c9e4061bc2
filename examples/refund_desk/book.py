"""A book on disk that is only ever added to, and that survives kill -9."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class Book:
    """An SQLite file. What `writing` has left is on the disk; its tables refuse change and removal."""

    def __init__(self, path: Path, *, tables: str, closed_to_change: tuple[str, ...]) -> None:
        self.path = path
        with closing(self.connect()) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(tables)
            for table in closed_to_change:
                connection.executescript(_refusals(table))

    def connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=10, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One writer at a time; everything inside is kept, or nothing."""
        with closing(self.connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """The rows of a query, as dictionaries."""
        with closing(self.connect()) as connection:
            return [dict(row) for row in connection.execute(query, values)]


def _refusals(table: str) -> str:
    return "".join(
        f"CREATE TRIGGER IF NOT EXISTS {table}_no_{verb} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, 'the book is only added to'); END;"
        for verb in ("update", "delete")
    )


def now() -> str:
    """The time as RFC 3339 with milliseconds, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
