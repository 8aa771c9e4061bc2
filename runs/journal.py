"""The only writer of steps, attempts and their events; a worker's door and everybody else's."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from approvals.requests import cancel_open
from runs import bells, boundary, leases, onward, openings, standing, states, stopping, unsettled
from runs.boundary import Answer
from runs.command import CannotDecline, Command, command
from runs.entries import Change, Closing, Journal, Opening, Planned, StepRow
from runs.leases import Lease
from runs.reading import load
from tenants import actors, exact_json, live, prepared
from tenants.locks import hold
from tenants.scope import scope

__all__ = ["CannotDecline", "Command", "Halted", "Holder", "LostLease", "StaleStamp", "command", "holder", "load"]

T = TypeVar("T")

_DECLINE = prepared.statement("journal_decline", "uuid uuid bigint bigint text text jsonb text")
_PROGRESS = prepared.statement("journal_progress", "uuid uuid bigint jsonb text jsonb")
_CHECK = prepared.statement("journal_check", "uuid uuid bigint")
_NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"


class LostLease(Exception):
    """The lease is another's or has lapsed; nothing was written and nothing may be."""


class Halted(Exception):
    """The run was paused, cancelled or finished meanwhile: what was in hand is recorded, nothing was opened."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


class StaleStamp(Exception):
    """The tenant's stamp grew since the call was allowed: what was in hand is recorded, nothing was opened."""


class Holder:
    """The worker's door: every write checks, under the run's lock, that the lease is still this one.

    `journal` is what is recorded as far as this door knows; `behind` says that somebody else wrote meanwhile (an answer
    that declined a step, a comment): read again before planning. Each method is one commit in autocommit mode.
    `prepare` is told of the step that is being opened, while PostgreSQL is at it; it may ask the database nothing.
    """

    def __init__(self, lease: Lease, journal: Journal) -> None:
        self.lease = lease
        self.journal = journal
        self.behind = False
        self.actor = actors.worker(lease.worker)
        self._key = (str(lease.tenant), str(lease.run), str(lease.fence))
        self._who = (*self._key, exact_json.dumps(self.actor.packed()))
        self._topic = f"run:{lease.run}"
        self._clock: tuple[float, float] | None = None
        self._heard = False
        self.prepare: Callable[[Journal, StepRow], None] = lambda _journal, _step: None

    @property
    def now(self) -> datetime:
        """The database's time, as of the last boundary and counted on from there."""
        if self._clock is None:
            self._clock = (float(prepared.one(_NOW, ())[0]), time.monotonic())
        return datetime.fromtimestamp(self._clock[0] + time.monotonic() - self._clock[1], UTC)

    def told_time(self, now: datetime) -> None:
        """The database's time as another statement has just read it."""
        self._clock = (now.timestamp(), time.monotonic())

    def refresh(self) -> Journal:
        """Read the journal again."""
        self.behind = False
        self.journal = load(self.lease.tenant, self.lease.run)
        return self.journal

    def open_turn(self, kind: str = states.MODEL_TURN, *, message: str = "") -> StepRow:
        """Plan and start a model turn, compaction or observation; the step, with its attempt open."""
        planned = self._turn(kind, message)
        opening = Opening(self.journal.next_seq, message=message)
        self._write(Change(plans=[planned], opening=opening))
        return self.journal.step(opening.step)

    def close_turn_and_open(
        self,
        closing: Closing,
        *,
        plans: Sequence[Planned] = (),
        opening: Opening | None = None,
        ahead: Journal | None = None,
    ) -> StepRow | None:
        """Record a turn's answer and its steps (numbered from `journal.next_seq`), open the first allowed one.

        On a finished run the planned steps are declined at once. `ahead` is `standing.ahead` of both, where that was
        asked already. Raises LostLease, Halted, StaleStamp.
        """
        self._write(Change(closing, plans, opening), ahead)
        return self.journal.step(opening.step) if opening else None

    def open(self, opening: Opening) -> StepRow:
        """Open an attempt on a planned or started step. Raises LostLease, Halted, StaleStamp."""
        if not openings.usual(self.journal, opening) or not self._opened(opening):
            self._at_length(Change(opening=opening))
        return self.journal.step(opening.step)

    def close(self, closing: Closing) -> StepRow:
        """Close the open attempt of a step. Raises LostLease; a run that was stopped meanwhile is no error here."""
        self._write(Change(closing=closing))
        return self.journal.step(closing.step)

    def close_and_open(self, closing: Closing, opening: Opening | str, *, ahead: Journal | None = None) -> StepRow:
        """Close one attempt and open the next: another step's, or, given a kind such as `model_turn`, a new step's.

        Returns the opened step. `ahead` is as at `close_turn_and_open`. Raises LostLease, Halted, StaleStamp; in the
        last two the closing is recorded.
        """
        plans = []
        if isinstance(opening, str):
            plans = [self._turn(opening, "")]
            opening = Opening(self.journal.next_seq)
        self._write(Change(closing, plans, opening), ahead)
        return self.journal.step(opening.step)

    def decline(self, step: int, *, reason: str, text: str, message: str = "") -> StepRow:
        """Close a step without an open attempt, uncalled (`refused`, `invalid`), with what the model is told."""
        *key, actor = self._who
        code, last_event = prepared.one(_DECLINE, (*key, str(step), reason, text, actor, message))
        if code == "lost":
            raise LostLease
        if code != "ok":
            raise states.IllegalMove(f"step {step} is {code}; it cannot be declined")
        self._ring(last_event)
        return self.refresh().step(step)

    def progress(self, step: int, *, message: str, done: int | None = None, total: int | None = None) -> None:
        """Tell how far a step is, as an event. A lost lease tells nothing."""
        counts = {name: count for name, count in (("done", done), ("total", total)) if count is not None}
        data = exact_json.dumps({"step": step, **counts})
        (last_event,) = prepared.one(_PROGRESS, (*self._who, message, data))
        if last_event is not None:
            self.behind = self.behind or last_event != self.journal.last_event + 1
            self.journal = standing.after(self.journal, (), last_event=last_event)
            self._ring(last_event)

    def locked(self, act: Callable[[Journal], T]) -> T:
        """Run `act` in one transaction, in the run's scope and lock, the fence checked, with the journal read afresh.

        The way to call the gate (requests need scope and lock). Raises LostLease, Halted.
        """
        with scope(self.lease.tenant):
            hold(f"run:{self.lease.run}")
            code, status = prepared.one(_CHECK, self._key)
            if code != "ok":
                raise LostLease if code == "lost" else Halted(status)
            found = act(self.refresh())
            self.behind = True
        return found

    def park(self, before: Callable[[Journal], bool]) -> bool:
        """Stop at `waiting_approval` and give up the lease, if `before` says, inside the lock and with the journal read
        afresh, that something still waits; `before` may open requests. False: nothing changed, plan again."""
        return self._park(states.WAITING, before)

    def sleep(self, before: Callable[[Journal], bool] | None = None, *, message: str = "") -> bool:
        """Stop at `sleeping` until the earliest `due_at` of the steps; as `park`."""
        return self._park(states.SLEEPING, before, message=message)

    def attention(self, reason: str, before: Callable[[Journal], bool] | None = None, *, message: str = "") -> bool:
        """Stop at `needs_attention` for a listed reason; as `park`."""
        return self._park(states.ATTENTION, before, reason=reason, message=message)

    def finish(
        self, status: str, *, result: str | None = None, reason: str = "", message: str = "", asked: bool = True
    ) -> None:
        """End the run as `succeeded` or `failed`: closes requests, unstarted steps and steps between attempts.

        Without `asked` no question of this run was ever put to people, which only its holder does; one round trip then.
        """
        leaves = status == states.FAILED and any(step.status == "started" for step in self.journal.steps)
        if not asked and not leaves:
            return self._stop(status, reason=reason, message=message, result=result)
        with scope(self.lease.tenant):
            hold(self._topic)
            cancel_open(self._topic, actor=self.actor, because=f"run_{status}")
            self._stop(status, reason=reason, message=message, result=result)
            if leaves:
                unsettled.tell(self.lease.run)
        return None

    def close_and_succeed(self, closing: Closing, result: str) -> None:
        """Record the run's last turn, which was completed, and its end in one commit; no question of it was ever put.

        Raises LostLease; Halted where the closing is recorded and the run was stopped meanwhile.
        """
        change = Change(closing)
        closes = boundary.question(boundary.values(self._who, self.journal, change))
        closed, ended = prepared.together([[closes, stopping.question(self._who, states.SUCCEEDED, result=result)]])
        answer = boundary.told(closed)
        if answer.code == "lost":
            raise LostLease
        self.journal = standing.told(self.journal, answer, change, fence=self.lease.fence)
        self._stopped(states.SUCCEEDED, stopping.told(ended))

    def give_back(self, because: str) -> None:
        """Back to `queued` without having failed: shutdown, time slice used up."""
        self._stop(states.QUEUED, data={"because": because})

    def _park(
        self, status: str, before: Callable[[Journal], bool] | None, *, reason: str = "", message: str = ""
    ) -> bool:
        if before is None:
            self._stop(status, reason=reason, message=message)
            return True

        def stop_if(journal: Journal) -> bool:
            if not before(journal):
                return False
            self._stop(status, reason=reason, message=message)
            return True

        return self.locked(stop_if)

    def _stop(
        self,
        status: str,
        *,
        reason: str = "",
        message: str = "",
        result: str | None = None,
        data: dict[str, str] | None = None,
    ) -> None:
        asked = stopping.question(self._who, status, reason=reason, message=message, result=result, data=data)
        self._stopped(status, stopping.told(prepared.run(*asked)))

    def _stopped(self, status: str, answer: stopping.Answer) -> None:
        code, found, last_event = answer
        if code != "ok":
            raise LostLease if code == "lost" else Halted(found)
        self._ring(last_event)
        bells.moved(self.lease.tenant)
        if status in states.FINISHED:  # What stood between attempts became unknown with it.
            bells.unsettled(self.lease.tenant)
        leases.stopped(self.lease)

    def _turn(self, kind: str, message: str) -> Planned:
        return Planned(kind, turn=self.journal.turns if kind == states.COMPACTION else 0, message=message)

    def _write(self, change: Change, ahead: Journal | None = None) -> None:
        """Write the boundary. Raises LostLease, Halted, StaleStamp; in the last two the closing is recorded."""
        usual = onward.usual(self.journal, change)
        if usual is None or not self._onward(usual, ahead):
            self._at_length(change)

    def _opened(self, opening: Opening) -> bool:
        """As `_onward`, of a first attempt."""
        before, foreseen = self.journal, list[Journal]()

        def foresee() -> None:
            answer = Answer("ok", states.RUNNING, 0, before.last_event + 1, 0.0, None, None, None, 1)
            foreseen.append(standing.told(before, answer, Change(opening=opening), fence=self.lease.fence))
            self.prepare(foreseen[0], foreseen[0].step(opening.step))

        at = openings.write(self._who, before, opening, foresee, heard=self._heard)
        return self._stands(at, foreseen, opening)

    def _onward(self, usual: onward.Usual, ahead: Journal | None) -> bool:
        """Whether all was as expected and is written, as nearly always: what it comes to is known beforehand."""
        closing, planned, opening = usual
        before, foreseen = self.journal, list[Journal]()

        def foresee() -> None:
            found = ahead or standing.ahead(before, closing)
            last_event = before.last_event + onward.EVENTS
            found = standing.begun(found, planned, opening, fence=self.lease.fence, last_event=last_event)
            foreseen.append(found)
            self.prepare(found, found.steps[-1])

        at = onward.write(self._who, before, usual, foresee, heard=self._heard)
        return self._stands(at, foreseen, opening)

    def _stands(self, at: float | None, foreseen: Sequence[Journal], opening: Opening) -> bool:
        if at is None:
            self._heard = True  # That may be why.
            return False
        self.journal = standing.timed(foreseen[0], opening, at)
        self._clock = (at, time.monotonic())
        self._ring(self.journal.last_event)
        return True

    def _at_length(self, change: Change) -> None:
        before, fence, opening = self.journal, self.lease.fence, change.opening
        expected = standing.expected(before, change)
        foreseen: list[Journal] = []

        def foresee() -> None:
            if expected:
                foreseen.append(standing.told(before, expected, change, fence=fence))
                if opening:
                    self.prepare(foreseen[0], foreseen[0].step(opening.step))

        def write() -> Answer:
            return boundary.write(boundary.values(self._who, before, change), foresee)

        follows = unsettled.may_follow(change.closing)
        answer = unsettled.along(self.lease.tenant, self.lease.run, write) if follows else write()
        if answer.code == "lost":
            raise LostLease
        self._clock = (answer.at, time.monotonic())
        self.behind = self.behind or answer.first_event != before.last_event + 1
        if foreseen and answer._replace(at=0.0) == expected:
            self.journal = standing.timed(foreseen[0], opening, answer.at)
        else:
            self.journal = standing.told(before, answer, change, fence=fence)
        self._ring(answer.last_event)
        if answer.closed_status == "unknown":
            bells.unsettled(self.lease.tenant)
        if opening and answer.code == "halted":
            raise Halted(answer.status)
        if opening and answer.code == "stale":
            raise StaleStamp

    def _ring(self, last_event: int) -> None:
        live.ring_now(self._topic, last_event, tenant=self.lease.tenant)


def holder(lease: Lease) -> Holder:
    """The door of this lease, with the journal read."""
    return Holder(lease, load(lease.tenant, lease.run))
