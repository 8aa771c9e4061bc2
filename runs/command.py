"""Everybody else's door to the journal: a person's, a receiver's, a sweep's. It writes no attempt."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from approvals.requests import cancel_open
from approvals.signals import Story
from runs import bells, states, unsettled
from runs.entries import Journal
from runs.models import Run
from runs.reading import load
from tenants import broker, exact_json, live, prepared
from tenants.actors import Actor
from tenants.locks import hold
from tenants.rows import Rows
from tenants.scope import current

_RUN = Rows(Run, "r.tenant_id = $1::uuid AND r.id = $2::uuid")
_MOVE = prepared.statement("run_move", "uuid uuid text text jsonb text text jsonb")
_WAKE = prepared.statement("run_wake", "uuid uuid text jsonb jsonb")
_WAKE_AFTER = prepared.statement("run_wake_after", "uuid uuid text jsonb jsonb text[] text[] text[]")
_ANSWERED = prepared.statement("run_answered", "uuid uuid bigint uuid text text text jsonb")
_DECLINE = prepared.statement("journal_decline", "uuid uuid bigint bigint text text jsonb text")
_SETTLE = prepared.statement("journal_settle", "uuid uuid bigint text text jsonb text")
_HELD = prepared.statement("journal_held", "uuid uuid")


class CannotDecline(Exception):
    """The step has begun or ended meanwhile; `standing` says what it is: `in_hand`, or its status."""

    def __init__(self, standing: str) -> None:
        super().__init__(standing)
        self.standing = standing


class Command:
    """A run under its lock, with who acts on it. Made by `command`; lives as long as the transaction."""

    def __init__(self, run: Run, *, actor: Actor) -> None:
        self.run = run
        self.actor = actor
        self._key = (str(run.tenant_id), str(run.pk))
        self._actor = exact_json.dumps(actor.packed())

    @property
    def held(self) -> bool:
        """Whether a worker holds the run's lease now."""
        return bool(prepared.one(_HELD, self._key)[0])

    def journal(self) -> Journal:
        """The run's journal as it is now, under the lock."""
        return load(self.run.tenant_id, self.run.pk)

    def decline(self, step: int, *, reason: str, text: str, message: str = "") -> None:
        """Close a planned step, or one between attempts known as not done, with the text the model reads.

        Raises CannotDecline where it is neither.
        """
        values = (*self._key, None, str(step), reason, text, self._actor, message)
        code, last_event = prepared.one(_DECLINE, values)
        if code != "ok":
            raise CannotDecline(code)
        self._ring(last_event)

    def settle(self, step: int, *, outcome: str, result: str | None = None, message: str = "") -> bool:
        """Settle an unknown step: `completed`, `not_done`, or `do_again` (planned anew, its generation one higher).

        False: its outcome is not unknown (any more), or an attempt of it is open.
        """
        code, last_event = prepared.one(_SETTLE, (*self._key, str(step), outcome, result, self._actor, message))
        if code == "ok":
            self._ring(last_event)
            bells.unsettled(self.run.tenant_id)
        return bool(code == "ok")

    def wake(self, because: str, *, data: Mapping[str, Any] | None = None) -> bool:
        """Queue a parked run and tell the workers after commit.

        A run in any other state is left alone, and one that needs attention for what this does not mend: a budget,
        a crash loop or, but for `version` itself, a version.
        """
        values = (*self._key, because, self._actor, exact_json.dumps(dict(data or {})))
        (seq,) = prepared.one(_WAKE, values)
        if seq is not None:
            self.run.status, self.run.reason = states.QUEUED, ""
            self._ring(seq)
            self._announce()
        return seq is not None

    def move(self, status: str, *, reason: str = "", message: str = "", data: Mapping[str, Any] | None = None) -> int:
        """Change the run's state; the number of its event. Entering a finished one closes requests and steps first.

        Raises states.IllegalMove. A queued run is announced to the workers after commit.
        """
        seq = self._move(status, reason=reason, message=message, data=data)
        self.run.refresh_from_db()
        return seq

    def _move(self, status: str, *, reason: str = "", message: str = "", data: Mapping[str, Any] | None = None) -> int:
        """The same, with nothing but the row's state read again."""
        old = self.run.status
        if not states.RUN.allows(old, status):
            raise states.IllegalMove(f"run {self.run.pk}: {old} → {status}")
        if status in states.FINISHED:
            cancel_open(f"run:{self.run.pk}", actor=self.actor, because=f"run_{status}")
        event = states.run_event(old, status)
        values = (*self._key, status, reason, self._actor, event, message, exact_json.dumps(dict(data or {})))
        seq = int(prepared.one(_MOVE, values)[0])
        self.run.status, self.run.reason = status, reason
        self._ring(seq)
        if status in states.FINISHED:  # What stood between attempts became unknown with it.
            bells.unsettled(self.run.tenant_id)
            unsettled.tell(self.run.pk)
        if status == states.QUEUED:
            self._announce()
        else:
            bells.moved(self.run.tenant_id)
        return seq

    def _announce(self) -> None:
        _announce(self.run.tenant_id, self.run.pk)

    def _ring(self, seq: int) -> None:
        live.ring(f"run:{self.run.pk}", seq)


def command(run_id: UUID, *, actor: Actor) -> Command:
    """The door of a person, receiver or sweep; needs scope(), takes hold("run:<id>"). Raises Run.DoesNotExist."""
    hold(f"run:{run_id}")
    run = _RUN.first(str(current()), str(run_id))
    if run is None:
        raise Run.DoesNotExist
    return Command(run, actor=actor)


@dataclass(frozen=True)
class Answer:
    """What a request about a step came to; `reason` and `text` are for a call that got no yes."""

    step: int
    request: UUID
    status: str
    reason: str
    text: str


def answered(run_id: UUID, answer: Answer, *, actor: Actor) -> None:
    """Close the step of a call that got no yes, and queue the run where it can go on; one statement, under its lock.

    A step that was closed with its run stays as it is: the answer came to a question that no longer matters.
    """
    hold(f"run:{run_id}")
    words = (str(answer.step), str(answer.request), answer.status, answer.reason, answer.text)
    values = (str(current()), str(run_id), *words, exact_json.dumps(actor.packed()))
    tenant = current()
    prepared.later(_ANSWERED, values, lambda row: heard(tenant, run_id, *row))


def agreed(run_id: UUID, *, step: int, request: UUID, story: Story, actor: Actor) -> None:
    """Write the story of a yes, and queue the run that waited for it; one statement, under its lock."""
    hold(f"run:{run_id}")
    tenant = current()
    wake = exact_json.dumps({"request": str(request), "step": step})
    key = (str(tenant), str(run_id), "approved", exact_json.dumps(actor.packed()), wake)

    def then(row: tuple[Any, ...]) -> None:
        heard(tenant, run_id, *row)
        story.then(row[0])

    names, messages = [name for name, _message, _data in story.told], [message for _name, message, _data in story.told]
    data = [exact_json.dumps(data) for _name, _message, data in story.told]
    prepared.later(_WAKE_AFTER, (*key, names, messages, data), then)


def heard(tenant: UUID, run: UUID, seq: int | None, woken: bool) -> None:
    """Ring for what an answer did to its run, and tell the workers where it woke it; on commit."""
    if seq is not None:
        live.ring(f"run:{run}", seq, tenant=tenant)
    if woken:
        _announce(tenant, run)


def _announce(tenant: UUID, run: UUID) -> None:
    bells.moved(tenant)
    broker.publish("runs.tasks.advance", tenant, run)
