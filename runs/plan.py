"""What comes next: a pure function of the journal, the requests' states and a few facts; it reads no clock."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import takewhile
from types import MappingProxyType
from typing import NamedTuple

from runs import states
from runs.agents import Budget
from runs.entries import Journal, StepRow


class Facts(NamedTuple):
    """What the plan reads beside the journal.

    `requests` gives the state of each step's latest request, `allowed` the steps that the rules let pass under
    the stamp at hand, `fence` this worker's lease, `now` the database's time, `worked` seconds of this lease,
    `window` the tokens of a turn from which on the context is summed up.
    """

    fence: int
    now: datetime
    requests: Mapping[int, str] = MappingProxyType({})
    allowed: Set[int] = frozenset()
    parallel: bool = True
    max_steps: int = 100
    max_repeats: int = 3
    budget: Budget = Budget()
    worked: float = 0.0
    observe: bool = False
    window: int | None = None


@dataclass(frozen=True)
class Recover:
    """An attempt that a vanished holder left open is to be closed as crashed."""

    step: StepRow


@dataclass(frozen=True)
class Turn:
    """The model is to be asked, or another unit without people is to run: a new step, or one to go on with."""

    kind: str = states.MODEL_TURN
    step: StepRow | None = None


@dataclass(frozen=True)
class Judge:
    """A planned call that nobody has judged: the rules say whether it may run, waits for people, or is refused."""

    step: StepRow


@dataclass(frozen=True)
class Execute:
    """A call that may run: allowed, approved, or to be tried again."""

    step: StepRow


@dataclass(frozen=True)
class Answered:
    """A planned call whose request ended without a yes, but whose step was not closed with it."""

    step: StepRow


@dataclass(frozen=True)
class Park:
    """Nothing can go on: the run stops in this state until the time, or until somebody acts."""

    status: str
    reason: str = ""
    due_at: datetime | None = None
    message: str = ""


@dataclass(frozen=True)
class Finish:
    """The run is over. `reason` is a stable word, `message` the sentence for people."""

    status: str
    result: str = ""
    reason: str = ""
    message: str = ""


Action = Recover | Turn | Judge | Execute | Answered | Park | Finish


def plan(journal: Journal, facts: Facts) -> Action:
    """The one next action."""
    turn, calls = tail(journal)
    for step in (turn, *calls):
        if step and step.attempts and _left_by_another(step, facts):
            return Recover(step)
    if turn is None:
        return _ask(journal, facts)
    if not turn.ended or turn.status == "failed":
        return _resume(turn, facts)
    if waiting := [call for call in calls if not call.ended]:
        return _calls(waiting, facts)
    return _next(journal, turn, calls, facts)


def _left_by_another(step: StepRow, facts: Facts) -> bool:
    attempt = step.open_attempt
    return attempt is not None and attempt.fence != facts.fence


def tail(journal: Journal) -> tuple[StepRow | None, Sequence[StepRow]]:
    """The last step that is no tool call, and the calls after it."""
    calls: list[StepRow] = []
    for step in reversed(journal.steps):
        if step.kind != states.TOOL_CALL:
            return step, calls[::-1]
        calls.append(step)
    return None, calls[::-1]


def dependents(journal: Journal, step: int, *, parallel: bool) -> int:
    """How many calls of the step's turn wait until it has a result: those after it, where calls go one by one."""
    return 0 if parallel else sum(1 for call in tail(journal)[1] if call.seq > step and not call.ended)


def _resume(turn: StepRow, facts: Facts) -> Action:
    if turn.status == "failed":
        return Finish("failed", reason="model", message=turn.result or "The model could not be asked.")
    if turn.due_at and turn.due_at > facts.now:
        return Park(states.SLEEPING, due_at=turn.due_at)
    return Turn(turn.kind, turn)


def _calls(waiting: Sequence[StepRow], facts: Facts) -> Action:
    considered = waiting if facts.parallel else waiting[:1]
    stands = [(step, stand(step, facts)) for step in considered]
    for wanted, action in _ORDER:
        for step, found in stands:
            if found == wanted:
                return action(step)
    return _park([found for _, found in stands], considered)


def stand(step: StepRow, facts: Facts) -> str:
    """Where an unfinished call stands: `judge`, `answered`, `execute`, or what it waits for."""
    if step.status == "unknown":
        return "unknown_outcome"
    if step.due_at and step.due_at > facts.now:
        return "sleeping"
    if step.status == "started":
        return "permission" if _refused(step) else "execute"
    request = facts.requests.get(step.seq)
    if request is None:
        return "execute" if step.seq in facts.allowed else "judge"
    return {"pending": "waiting", "approved": "execute"}.get(request, "answered")


def _refused(step: StepRow) -> bool:
    """A call that lacks a permission waits for a person, after whom its tries count from anew."""
    last = step.attempts[-1] if step.attempts else None
    return last is not None and last.cause == "permission" and last.number > step.spent


_ORDER = (("answered", Answered), ("judge", Judge), ("execute", Execute))


def _park(stands: Sequence[str], steps: Sequence[StepRow]) -> Park:
    due_at = min((step.due_at for step in steps if step.due_at), default=None)
    for reason in ("unknown_outcome", "permission"):
        if reason in stands:
            return Park(states.ATTENTION, reason=reason, due_at=due_at)
    return Park(states.WAITING if "waiting" in stands else states.SLEEPING, due_at=due_at)


def _next(journal: Journal, turn: StepRow, calls: Sequence[StepRow], facts: Facts) -> Action:
    if turn.kind == states.MODEL_TURN and not calls:
        text = turn.result or ""
        if text.strip():
            return Finish("succeeded", result=text)
    if _brought_nothing(journal, calls) and useless(journal) >= facts.max_repeats:
        return Finish("failed", reason="repeats", message=_repeated(calls, facts.max_repeats))
    return _ask(journal, facts, after=turn)


def _repeated(calls: Sequence[StepRow], times: int) -> str:
    if not calls:
        return f"The model answered with nothing {times} times in a row."
    return f"The model asked {times} times in a row only for calls that cannot run; the last was {calls[-1].tool}."


def useless(journal: Journal) -> int:
    """How many model turns in a row, counted from the last back to a retry, brought nothing to run or to ask."""
    return sum(1 for _ in takewhile(lambda calls: _brought_nothing(journal, calls), _turns(journal)))


REFUSALS = frozenset({"rejected", "expired", "refused"})


def refusals(journal: Journal, tool: str, digest: str, *, before: int) -> int:
    """How often the identical call was refused, by people, by silence or by rules, before this step; since a retry."""
    declined = [step for step in journal.steps if step.status == "declined"]
    if not declined:
        return 0
    retried_after = journal.run.retried_after
    return sum(
        step.tool == tool and step.digest == digest and step.reason in REFUSALS
        for step in declined
        if retried_after < step.seq < before
    )


def _turns(journal: Journal) -> Iterator[Sequence[StepRow]]:
    calls: list[StepRow] = []
    for step in reversed(journal.steps):
        if step.seq <= journal.run.retried_after:
            return
        if step.kind == states.TOOL_CALL:
            calls.append(step)
        elif step.kind == states.MODEL_TURN:
            yield calls
            calls = []


def _brought_nothing(journal: Journal, calls: Sequence[StepRow]) -> bool:
    return all(call.status == "declined" and _in_vain(journal, call) for call in calls)


def _in_vain(journal: Journal, call: StepRow) -> bool:
    if call.reason == "refused":
        return refusals(journal, call.tool, call.digest, before=call.seq) > 0
    return call.reason == "invalid"


def _ask(journal: Journal, facts: Facts, after: StepRow | None = None) -> Action:
    if journal.next_seq - journal.run.retried_after > facts.max_steps:
        return Finish("failed", reason="max_steps", message=f"The run reached its limit of {facts.max_steps} steps.")
    if spent := overspent(journal, facts.budget, facts.worked):
        return Park(states.ATTENTION, reason="budget", message=f"The run's budget of {spent} is used up.")
    if after is not None and after.kind == states.MODEL_TURN and _too_long(journal, after, facts.window):
        return Turn(states.COMPACTION)
    if after is not None and after.kind != states.OBSERVATION and facts.observe:
        return Turn(states.OBSERVATION)
    return _ASK


_ASK = Turn()


def _too_long(journal: Journal, turn: StepRow, window: int | None) -> bool:
    """Whether the context fills its window; a single turn since the last summary leaves nothing to shorten."""
    if window is None or (turn.tokens_in or 0) + (turn.tokens_out or 0) < window:
        return False
    return sum(step.kind == states.MODEL_TURN for step in journal.steps) > 1


def overspent(journal: Journal, budget: Budget, worked: float) -> str:
    """Which part of the budget is used up, or nothing."""
    if budget.tokens is not None and journal.tokens >= budget.tokens:
        return "tokens"
    if budget.cost is not None and journal.cost >= Decimal(budget.cost):
        return "cost"
    if budget.seconds is not None and journal.run.worked + worked >= budget.seconds:
        return "seconds"
    return ""
