"""What stops a start, as one line for the person at the keyboard."""

import errno

import psycopg


class Trouble(Exception):
    """A start that cannot go on; its text is one clear line: the fact, and what to do."""


FULL = "The disk that holds {where} is full. Nothing was lost; make room and start again."


def explain(error: OSError, *, where: object) -> Trouble:
    """The line for an error of the operating system met while preparing `where`."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Trouble(FULL.format(where=where))
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Trouble(
            f"{where} may not be written by this user. Change its owner, or set LOCAL_DIR to another folder."
        )
    return Trouble(f"{where} cannot be prepared: {error.strerror or error}.")


def explain_database(error: psycopg.OperationalError, *, where: object) -> Trouble:
    """The line for an error that the database in `where` met while it was prepared."""
    if isinstance(error, psycopg.errors.DiskFull) or "No space left" in str(error):
        return Trouble(FULL.format(where=where))
    return Trouble(f"The database in {where} cannot be prepared: {' '.join(str(error).split())}")
