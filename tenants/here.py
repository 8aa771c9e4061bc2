"""This thread's way to the database: Django's, found once."""

import logging
import threading
from asyncio import _get_running_loop

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)


class _Here(threading.local):
    """Django looks for it by the event loop that runs, which a decision did thirty times."""

    def __init__(self) -> None:
        self.database = connections[DEFAULT_DB_ALIAS]


_here = _Here()
_kept = getattr(getattr(connections, "_connections", None), "_storage", None)
"""Where Django keeps a thread's connections while no loop runs; to ask for one costs it an exception each time."""


def database() -> BaseDatabaseWrapper:
    """The application's connection of this thread, as `connections` has it."""
    if _get_running_loop() is not None:  # Django has another for each context of a loop.
        return connections[DEFAULT_DB_ALIAS]
    return _here.database


def put_back() -> None:
    """Let `connections` have this one again, where a call has put another in its place; that one is closed."""
    if getattr(_kept, DEFAULT_DB_ALIAS, None) is _here.database:
        return
    other = connections[DEFAULT_DB_ALIAS]
    if other is not _here.database:
        connections[DEFAULT_DB_ALIAS] = _here.database
        try:
            other.close()
        except Exception:
            logger.exception("A connection could not be closed after a call.")


def leave(alias: str = DEFAULT_DB_ALIAS) -> None:
    """Let a connection go with all that is kept on it, whatever it is in the middle of; the next one is new."""
    del connections[alias]
    _here.database = connections[DEFAULT_DB_ALIAS]
