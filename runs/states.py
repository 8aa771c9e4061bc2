"""Which state may follow which: the only copy, as data; the database's triggers are generated from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Machine:
    """The states of one kind of row: where a row may begin, and what may follow each state.

    A step that is planned and started in one commit is written once, as `started`, with both events.
    """

    first: frozenset[str]
    moves: Mapping[str, frozenset[str]]

    def allows(self, old: str | None, new: str) -> bool:
        """Whether a row in state `old` (None: not there yet) may be written with state `new`."""
        return new in self.first if old is None else new in self.moves[old]

    @property
    def states(self) -> frozenset[str]:
        return frozenset(self.moves)


class IllegalMove(Exception):
    """A change of state that the tables do not list; a mistake in the code, never a person's."""


QUEUED: Final = "queued"
RUNNING: Final = "running"
WAITING: Final = "waiting_approval"
SLEEPING: Final = "sleeping"
ATTENTION: Final = "needs_attention"
PAUSED: Final = "paused"
SUCCEEDED: Final = "succeeded"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"

PARKED: Final = frozenset({WAITING, SLEEPING, ATTENTION})
FINISHED: Final = frozenset({SUCCEEDED, FAILED, CANCELLED})
UNFINISHED: Final = PARKED | {QUEUED, RUNNING, PAUSED}

AGENT_STOPPED: Final = "agent_stopped"
"""The reason of a paused run that goes on by itself once its agent is started again."""

ATTENTION_REASONS: Final = frozenset({"unknown_outcome", "version", "permission", "budget", "crash_loop"})


def _run_moves() -> dict[str, frozenset[str]]:
    stop = frozenset({PAUSED, CANCELLED, FAILED})
    moves = {QUEUED: stop | {RUNNING, ATTENTION}, RUNNING: stop | PARKED | {QUEUED, SUCCEEDED}}
    moves |= {parked: stop | {QUEUED} for parked in PARKED}
    moves |= {PAUSED: frozenset({QUEUED, CANCELLED, FAILED})}
    return moves | {SUCCEEDED: frozenset(), CANCELLED: frozenset(), FAILED: frozenset({QUEUED})}


RUN: Final = Machine(first=frozenset({QUEUED}), moves=_run_moves())

MODEL_TURN: Final = "model_turn"
TOOL_CALL: Final = "tool_call"
COMPACTION: Final = "compaction"
OBSERVATION: Final = "observation"
KINDS: Final = frozenset({MODEL_TURN, TOOL_CALL, COMPACTION, OBSERVATION})

DECLINED_REASONS: Final = frozenset({"rejected", "responded", "expired", "cancelled", "refused", "invalid"})

TURN: Final = Machine(
    first=frozenset({"planned", "started"}),
    moves={
        "planned": frozenset({"started", "cancelled"}),
        "started": frozenset({"completed", "failed"}),
        "failed": frozenset({"planned"}),
        "completed": frozenset(),
        "cancelled": frozenset(),
    },
)
"""Model turns, compactions and observations; `failed` → `planned` only by the run's retry."""

TOOL: Final = Machine(
    first=frozenset({"planned", "started"}),
    moves={
        "planned": frozenset({"started", "declined"}),
        "started": frozenset({"completed", "failed", "unknown", "declined"}),
        "unknown": frozenset({"completed", "not_done", "planned"}),
        "completed": frozenset(),
        "failed": frozenset(),
        "declined": frozenset(),
        "not_done": frozenset(),
    },
)
"""Tool steps; `started` → `declined` only between attempts, the last one known as not done."""


def machine(kind: str) -> Machine:
    """The machine that a step of this kind follows."""
    return TOOL if kind == TOOL_CALL else TURN


STEP_OPEN: Final = frozenset({"planned", "started", "unknown"})
"""States of a step that still has to come to an end."""


def run_event(old: str | None, new: str, *, lost: bool = False) -> str:
    """The name of the event that tells of this change of a run; `lost`: its holder's lease lapsed."""
    if new == QUEUED:
        return "run.queued" if old is None else "run.recovered" if lost else "run.resumed"
    return _RUN_EVENTS[new]


_RUN_EVENTS: Final = {
    RUNNING: "run.started",
    WAITING: "run.waiting",
    SLEEPING: "run.sleeping",
    ATTENTION: "run.attention",
    PAUSED: "run.paused",
    SUCCEEDED: "run.succeeded",
    FAILED: "run.failed",
    CANCELLED: "run.cancelled",
}
