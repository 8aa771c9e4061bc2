"""A connection of the pool, which is asked whether it lives only where that may be doubted.

The pool asks by an empty query, a round trip each time a connection is taken: a twentieth of the way from a decision to
the tool's first line. A server that ended a connection has said so or closed it; a connection at which nothing is to be
read, and which answered a moment ago, is believed.
"""

import select
import time
from typing import Any

import psycopg
from psycopg.pq import ConnStatus, TransactionStatus
from psycopg_pool import ConnectionPool

BELIEVED = 5.0  # Seconds for which an answer proves that the way to the server is open.


class PooledConnection(psycopg.Connection[Any]):
    """Answers an empty query by itself where it is certain to live."""

    asked_at = 0.0

    def execute(self, query: Any, *args: Any, **values: Any) -> psycopg.Cursor[Any]:
        """As psycopg's; the empty query of the pool's check is sent only where the connection may have ended."""
        if query != "":
            return super().execute(query, *args, **values)
        if self._quiet():
            return self.cursor()
        found = self._asked(*args, **values)
        self.asked_at = time.monotonic()
        return found

    def set_autocommit(self, value: bool) -> None:
        """As psycopg's, which takes a lock and waits for nothing to do so: twice a transaction, where all is well."""
        if self.pgconn.transaction_status == TransactionStatus.IDLE and self._pipeline is None:
            self._autocommit = value
        else:
            super().set_autocommit(value)

    def _asked(self, *args: Any, **values: Any) -> psycopg.Cursor[Any]:
        try:
            return super().execute("", *args, **values)
        except psycopg.Error:
            # What ended this one has most likely ended those that lie idle. The pool tries one after the other, and
            # waits longer and longer in between: with four of them whoever wants a connection had none after 5 seconds.
            if isinstance(self._pool, ConnectionPool):
                self._pool.check()
            raise

    def _quiet(self) -> bool:
        pgconn = self.pgconn
        if pgconn.status != ConnStatus.OK or pgconn.transaction_status != TransactionStatus.IDLE:
            return False
        if time.monotonic() - self.asked_at > BELIEVED:
            return False
        poll = select.poll()
        poll.register(pgconn.socket, select.POLLIN)
        return not poll.poll(0)
