"""This thread's way to the database: Django's, found once."""

import threading

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper


class _Here(threading.local):
    """Django looks for it by the event loop that runs, which a decision did thirty times."""

    def __init__(self) -> None:
        self.database = connections[DEFAULT_DB_ALIAS]


_here = _Here()


def database() -> BaseDatabaseWrapper:
    """The application's connection of this thread, as `connections` has it."""
    return _here.database


def find_again() -> None:
    """Go by the one that `connections` has now, where a call has put it in the place of the one that was found."""
    before, _here.database = _here.database, connections[DEFAULT_DB_ALIAS]
    if before is not _here.database:
        before.close()


def leave(alias: str = DEFAULT_DB_ALIAS) -> None:
    """Let a connection go with all that is kept on it, whatever it is in the middle of; the next one is new."""
    del connections[alias]
    _here.database = connections[DEFAULT_DB_ALIAS]
