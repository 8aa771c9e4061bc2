"""One arbiter: the lock on a subject, which every change to a run or a request takes first."""

from django.db import connection

from tenants.errors import NoSubject, TwoSubjects
from tenants.scope import current, frames


def hold(subject: str) -> None:
    """Take the lock on (tenant, subject) and keep it to the end of the transaction.

    Inside a scope only. The same subject may be held again; a second one raises TwoSubjects, since
    two transactions that take two locks in two orders would wait for each other for ever.
    """
    wanted = (current(), subject)
    frame = frames()[-1]
    if frame.subject not in (None, wanted):
        raise TwoSubjects(f"This transaction holds {frame.subject}; it may not also hold {wanted}.")
    if frame.subject == wanted:
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT subject_lock(%s, %s)", wanted)
    frame.subject = wanted


def demand(subject: str) -> None:
    """Raise NoSubject unless this transaction holds the lock on this subject."""
    if frames()[-1:] == [] or frames()[-1].subject != (current(), subject):
        raise NoSubject(f"Call tenants.locks.hold({subject!r}) first.")
