"""What the journal is written with and read as: frozen values, no queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from uuid import UUID

from runs.states import COMPACTION, MODEL_TURN, STEP_OPEN

AttemptKind = Literal["call", "lookup", "precondition", "evidence"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A text too large for the row: its beginning, and the payload that holds all of it."""

    beginning: str
    payload: UUID


Texts = Mapping[str, "str | Stored"]
NO_TEXTS: Texts = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Usage:
    """What one model turn took; `cost` only where the provider reports it."""

    tokens_in: int
    tokens_out: int
    cost: Decimal | None = None


class Planned(NamedTuple):
    """A step to be written down. `declined` closes it in the same commit (`invalid`), with `result` for the model.

    A tuple, as what else a boundary is told: a frozen dataclass of as many fields takes four times as long to make.
    """

    kind: str
    tool: str = ""
    effect: str = ""
    call_id: str = ""
    digest: str = ""
    turn: int = 0
    proposed: str | Stored | None = None
    """The model's own text of the arguments."""
    arguments: str | Stored | None = None
    """The bound arguments as our writer wrote them; None where they are invalid."""
    rationale: str | Stored | None = None
    result: str | Stored | None = None
    """What the model is told, where the step is declined at once."""
    declined: str = ""
    message: str = ""
    """What a person reads in the event: the call's summary."""


class Opening(NamedTuple):
    """An attempt to be opened. A `call` moves its step to `started`; the other kinds leave the step's state.

    `stamp` is the tenant's stamp under which the call was found allowed; None opens unchecked (model turns,
    observations, precondition, evidence, lookup). `arguments` and `digest` replace the bound arguments, after an edit.
    """

    step: int
    kind: AttemptKind = "call"
    key: str = ""
    stamp: int | None = None
    arguments: str | None = None
    digest: str = ""
    message: str = ""


class Closing(NamedTuple):
    """How the open attempt of a step ended. `status` None leaves the step's state (precondition, evidence).

    `started`: the step goes on with another attempt, after `delay` seconds by the database's clock or at `due_at`.
    `not_done`: True, it is known that nothing left; False, it may have happened; None, it went well.
    """

    step: int
    status: Literal["completed", "failed", "unknown", "started", "declined"] | None
    result: "str | Stored | None" = None
    """The step's text: a turn's answer, a tool's result or error as the model reads it, a compaction's summary."""
    texts: Texts = NO_TEXTS
    """Further ones, by any name: evidence, precondition."""
    reason: str = ""
    cause: str = ""
    message: str = ""
    not_done: bool | None = None
    delay: float | None = None
    due_at: datetime | None = None
    usage: Usage | None = None
    note: str = ""
    """What a person reads in the event."""


class Change(NamedTuple):
    """What a holder writes at one boundary: how an attempt ended, the steps it led to, and the attempt that begins."""

    closing: Closing | None = None
    plans: Sequence[Planned] = ()
    """Numbered from the journal's `next_seq`."""
    opening: Opening | None = None


@dataclass(slots=True)
class AttemptRow:
    """One try; `not_done` as in Closing. Frozen but for its beginning, which the door that opens it is told last."""

    number: int
    kind: str
    fence: int
    key: str
    opened_at: datetime
    closed_at: datetime | None = None
    cause: str = ""
    message: str = ""
    not_done: bool | None = None
    next_at: datetime | None = None

    @property
    def open(self) -> bool:
        return self.closed_at is None


class StepRow(NamedTuple):
    """A step as recorded. `attempts` is filled for steps that are not at their end; `tries` counts them always.

    A tuple, since a long run is read as thousands of them at once.
    """

    seq: int
    kind: str
    status: str
    reason: str = ""
    turn: int = 0
    tool: str = ""
    effect: str = ""
    call_id: str = ""
    digest: str = ""
    generation: int = 0
    tries: int = 0
    due_at: datetime | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    tokens_total: int | None = None
    cost_total: Decimal | None = None
    proposed: str | None = None
    arguments: str | None = None
    rationale: str | None = None
    result: str | None = None
    """A turn's answer, a tool's result or what the model is told instead, a compaction's summary."""
    payloads: Mapping[str, str] | None = None
    """Of the four texts, those of which only the beginning is here: name → id of the payload."""
    spent: int = 0
    """How many of the tries a retry or resume has forgiven; bounds count those after them."""
    attempts: tuple[AttemptRow, ...] = ()

    def but(self, **changes: Any) -> "StepRow":
        """The row with these fields in the place of its own. `_replace`, which looks for each name, takes twice as
        long."""
        values = list(self)
        for name, value in changes.items():
            values[_PLACE[name]] = value
        return StepRow._make(values)

    # What happens at each step is written out, by the order of the fields: `but` takes three times as long.

    def ended_as(
        self, status: str, reason: str, *, result: str | None, payloads: Mapping[str, str] | None
    ) -> "StepRow":
        """The row at its end, which keeps no attempts."""
        seq, kind, _, _, turn, tool, effect, call_id, digest, generation, tries, _, *rest = self
        head = (seq, kind, status, reason, turn, tool, effect, call_id, digest, generation, tries, None)
        return StepRow._make((*head, *rest[:-4], result, payloads, self.spent, ()))

    def begun(self, attempt: AttemptRow) -> "StepRow":
        """The row of a planned step whose first attempt this is."""
        seq, kind, _, reason, turn, tool, effect, call_id, digest, generation, _, *rest, _ = self
        head = (seq, kind, "started", reason, turn, tool, effect, call_id, digest, generation, 1)
        return StepRow._make((*head, *rest, (attempt,)))

    @property
    def ended(self) -> bool:
        return self.status not in STEP_OPEN

    @property
    def open_attempt(self) -> AttemptRow | None:
        return self.attempts[-1] if self.attempts and self.attempts[-1].open else None


_PLACE = {name: place for place, name in enumerate(StepRow._fields)}


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as recorded when the journal was read."""

    tenant: UUID
    id: UUID
    agent: str
    version: str
    title: str
    status: str
    reason: str
    labels: Mapping[str, Any]
    initiators: tuple[UUID, ...]
    started_by: Mapping[str, Any]
    budget: Mapping[str, Any]
    deadline: datetime | None
    created_at: datetime
    input: str
    worked: float
    """Seconds of finished leases, for the budget of working time."""

    @property
    def subject(self) -> str:
        return f"run:{self.id}"

    @property
    def retried_after(self) -> int:
        """The last step there was when a person last retried the run: the bounds on steps and on what leads nowhere
        count those after it, or a run that failed by one of them would fail again at once."""
        return int(self.budget.get("retried_after", 0))


class Journal(NamedTuple):
    """A run and its steps since the last completed compaction (that step first), in order."""

    run: RunRecord
    steps: Sequence[StepRow]
    last_event: int
    next_seq: int
    """The number that the next planned step gets."""

    def step(self, seq: int) -> StepRow:
        """The step with this number; KeyError if it is not among those read."""
        steps = self.steps
        at = seq - steps[0].seq if steps else -1
        if 0 <= at < len(steps) and steps[at].seq == seq:
            return steps[at]
        raise KeyError(seq)

    @property
    def turns(self) -> int:
        """Model turns of the whole run so far; 0 where a compaction of an earlier release does not say how many."""
        before = self.steps[0].turn if self.steps and self.steps[0].kind == COMPACTION else None
        return 0 if before == 0 else (before or 0) + sum(step.kind == MODEL_TURN for step in self.steps)

    @property
    def tokens(self) -> int:
        """Tokens of the whole run so far."""
        return next((s.tokens_total for s in reversed(self.steps) if s.tokens_total is not None), 0)

    @property
    def cost(self) -> Decimal:
        """Reported cost of the whole run so far."""
        return next((s.cost_total for s in reversed(self.steps) if s.cost_total is not None), Decimal(0))

    def totals(self, usage: Usage) -> tuple[int, Decimal]:
        """Tokens and cost of the whole run with this turn. Its holder alone closes turns: it knows what was before."""
        return self.tokens + usage.tokens_in + usage.tokens_out, self.cost + (usage.cost or 0)
