"""One arbiter: the lock on a subject, which every change to a run or a request takes first."""

from tenants import prepared
from tenants.errors import NoSubject, TwoSubjects
from tenants.scope import ENTER, Frame, frames

_LOCK = prepared.statement("subject_lock", "uuid text")

ENTER_AND_HOLD = f"{ENTER} || subject_lock($1::uuid, $2)"
"""The first of two statements that are sent together: the tenant and the lock, which the second is to see under."""

PATIENCE = "set_config('lock_timeout', '1s', true)"
"""What a sweep begins each transaction with: where somebody who stands still keeps one lock, it would wait with all
that is due, and so would one thread of the workers after the other."""


def patiently() -> None:
    """Wait for no lock longer than a second in this transaction; OperationalError then."""
    prepared.later(f"SELECT {PATIENCE}", ())


def hold(subject: str) -> None:
    """Take the lock on (tenant, subject) and keep it to the end of the transaction.

    Inside a scope only. The same subject may be held again; a second one raises TwoSubjects, since
    two transactions that take two locks in two orders would wait for each other for ever.
    """
    frame = frames()[-1]
    if frame.subject != (frame.tenant, subject):
        _note(frame, subject)
        prepared.one(_LOCK, (str(frame.tenant), subject))


def held(subject: str) -> None:
    """Note that a statement of this transaction has taken the lock, as one that must first find the subject does."""
    _note(frames()[-1], subject)


def demand(subject: str) -> None:
    """Raise NoSubject unless this transaction holds the lock on this subject."""
    stack = frames()
    if not stack or stack[-1].subject != (stack[-1].tenant, subject):
        raise NoSubject(f"Call tenants.locks.hold({subject!r}) first.")


def _note(frame: Frame, subject: str) -> None:
    wanted = frame.tenant, subject
    if frame.subject not in (None, wanted):
        raise TwoSubjects(f"This transaction holds {frame.subject}; it may not also hold {wanted}.")
    frame.subject = wanted
