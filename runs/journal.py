"""The only writer of steps, attempts and their events; a worker's door and everybody else's."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from runs.entries import Closing, Journal, Opening, Planned, StepRow
from runs.leases import Lease
from runs.models import Run
from tenants.actors import Actor

T = TypeVar("T")


class LostLease(Exception):
    """The lease is another's or has lapsed; nothing was written and nothing may be."""


class Halted(Exception):
    """The run was paused, cancelled or finished meanwhile: what was in hand is recorded, nothing was opened."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


class StaleStamp(Exception):
    """The tenant's stamp grew since the call was allowed: what was in hand is recorded, nothing was opened."""


def load(tenant: UUID, run_id: UUID) -> Journal:
    """Read a run and its steps since the last completed compaction. No scope is needed; raises Run.DoesNotExist."""
    raise NotImplementedError


class Holder:
    """The worker's door: every write checks, under the run's lock, that the lease is still this one.

    `journal` is what is recorded as far as this door knows; `behind` says that somebody else wrote meanwhile (an answer
    that declined a step, a comment): read again before planning. Each method is one commit in autocommit mode.
    """

    journal: Journal
    behind: bool
    lease: Lease

    def refresh(self) -> Journal:
        """Read the journal again."""
        raise NotImplementedError

    def open_turn(self, kind: str = "model_turn", *, message: str = "") -> StepRow:
        """Plan and start a model turn, compaction or observation; the step, with its attempt open."""
        raise NotImplementedError

    def close_turn_and_open(
        self, closing: Closing, *, plans: Sequence[Planned] = (), opening: Opening | None = None
    ) -> StepRow | None:
        """Record a turn's answer and its steps (numbered from `journal.next_seq`), open the first allowed one.

        On a finished run the planned steps are declined at once. Raises LostLease, Halted, StaleStamp.
        """
        raise NotImplementedError

    def open(self, opening: Opening) -> StepRow:
        """Open an attempt on a planned or started step. Raises LostLease, Halted, StaleStamp."""
        raise NotImplementedError

    def close(self, closing: Closing) -> StepRow:
        """Close the open attempt of a step. Raises LostLease; a run that was stopped meanwhile is no error here."""
        raise NotImplementedError

    def close_and_open(self, closing: Closing, opening: Opening | str) -> StepRow:
        """Close one attempt and open the next: another step's, or, given a kind such as `model_turn`, a new step's.

        Returns the opened step. Raises LostLease, Halted, StaleStamp; in the last two the closing is recorded.
        """
        raise NotImplementedError

    def decline(self, step: int, *, reason: str, text: str, message: str = "") -> StepRow:
        """Close a step without an open attempt, uncalled (`refused`, `invalid`), with what the model is told."""
        raise NotImplementedError

    def progress(self, step: int, *, message: str, done: int | None = None, total: int | None = None) -> None:
        """Tell how far a step is, as an event."""
        raise NotImplementedError

    def locked(self, act: Callable[[Journal], T]) -> T:
        """Run `act` in one transaction, in the run's scope and lock, the fence checked, with the journal read afresh.

        The way to call the gate (requests need scope and lock). Raises LostLease, Halted.
        """
        raise NotImplementedError

    def park(self, before: Callable[[Journal], bool], *, due_at: datetime | None = None) -> bool:
        """Stop at `waiting_approval` and give up the lease, if `before` says, inside the lock and with the journal read
        afresh, that something still waits; `before` may open requests. False: nothing changed, plan again."""
        raise NotImplementedError

    def sleep(self, before: Callable[[Journal], bool] | None = None) -> bool:
        """Stop at `sleeping` until the earliest `due_at` of the steps; as `park`."""
        raise NotImplementedError

    def attention(self, reason: str, before: Callable[[Journal], bool] | None = None, *, message: str = "") -> bool:
        """Stop at `needs_attention` for a listed reason; as `park`."""
        raise NotImplementedError

    def finish(self, status: str, *, result: str = "", reason: str = "", message: str = "") -> None:
        """End the run as `succeeded` or `failed`: closes requests, unstarted steps and steps between attempts."""
        raise NotImplementedError

    def give_back(self, because: str) -> None:
        """Back to `queued` without having failed: shutdown, time slice used up."""
        raise NotImplementedError


def holder(lease: Lease) -> Holder:
    """The door of this lease, with the journal read."""
    raise NotImplementedError


class Command:
    """Everybody else's door, inside scope and hold: checks states, never an attempt, never while one is open."""

    actor: Actor
    run: Run

    def journal(self) -> Journal:
        """The run's journal as it is now, under the lock."""
        raise NotImplementedError

    def decline(self, step: int, *, reason: str, text: str, message: str = "") -> None:
        """Close a planned step, or one between attempts known as not done, with the text the model reads."""
        raise NotImplementedError

    def settle(self, step: int, *, outcome: str, result: str = "", note: str = "") -> None:
        """Settle an unknown step: `completed`, `not_done`, or `do_again` (planned anew, its generation one higher)."""
        raise NotImplementedError

    def wake(self, because: str) -> bool:
        """Queue a parked run; paused, leased and finished ones are left alone. Publishes after commit."""
        raise NotImplementedError

    def move(self, status: str, *, reason: str = "", because: str = "", message: str = "") -> None:
        """Change the run's state; entering a finished one closes what must be closed. Raises states.IllegalMove."""
        raise NotImplementedError


def command(run_id: UUID, *, actor: Actor) -> Command:
    """The door of a person, receiver or sweep; needs scope() and takes hold("run:<id>"). Raises Run.DoesNotExist."""
    raise NotImplementedError
