"""The next action, as a pure function: by example, and as a game in which chance plays the world."""

import dataclasses
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.agents import Budget
from runs.entries import AttemptRow, Journal, RunRecord, StepRow
from runs.plan import Answered, Execute, Facts, Finish, Judge, Park, Recover, Turn, dependents, plan, refusals, tail

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
ID = UUID(int=7)
RUN = RunRecord(
    tenant=ID,
    id=ID,
    agent="a",
    version="1",
    title="",
    status="running",
    reason="",
    labels={},
    initiators=(),
    started_by={},
    budget={},
    deadline=None,
    created_at=NOW,
    input='"go"',
    worked=0.0,
)


def journal(*steps: StepRow) -> Journal:
    return Journal(run=RUN, steps=steps, last_event=1, next_seq=len(steps) + 1)


def turn(seq: int, status: str = "completed", **values: Any) -> StepRow:
    return StepRow(seq=seq, kind="model_turn", status=status, **values)


def call(seq: int, status: str = "planned", **values: Any) -> StepRow:
    return StepRow(seq=seq, kind="tool_call", status=status, turn=1, tool="t", call_id=f"c{seq}", **values)


def attempt(fence: int = 1, **values: Any) -> AttemptRow:
    return AttemptRow(1, values.pop("kind", "call"), fence, "k", NOW, **values)


def facts(**values: Any) -> Facts:
    return Facts(**{"fence": 2, "now": NOW} | values)


def test_a_new_run_asks_the_model() -> None:
    assert plan(journal(), facts()) == Turn()


def test_an_answer_without_calls_ends_the_run() -> None:
    assert plan(journal(turn(1, result="done")), facts()) == Finish("succeeded", result="done")


def test_what_a_vanished_holder_left_open_is_closed_first() -> None:
    left = call(2, "started", attempts=(attempt(fence=1),))
    assert plan(journal(turn(1), left, call(3)), facts()) == Recover(left)


def test_people_are_asked_before_anything_runs() -> None:
    steps = (turn(1), call(2), call(3), call(4))
    assert plan(journal(*steps), facts(allowed=frozenset({2, 4}))) == Judge(steps[2])


def test_a_call_runs_while_its_sibling_waits_for_people() -> None:
    steps = (turn(1), call(2), call(3))
    assert plan(journal(*steps), facts(requests={2: "pending"}, allowed=frozenset({3}))) == Execute(steps[2])


def test_the_run_waits_when_only_people_can_go_on() -> None:
    steps = (turn(1), call(2), call(3, "completed"))
    assert plan(journal(*steps), facts(requests={2: "pending"})) == Park("waiting_approval")


def test_an_answer_that_closed_no_step_closes_it_now() -> None:
    steps = (turn(1), call(2))
    assert plan(journal(*steps), facts(requests={2: "rejected"})) == Answered(steps[1])


def test_the_model_is_asked_again_when_every_call_has_a_result() -> None:
    steps = (turn(1), call(2, "completed"), call(3, "declined", reason="rejected"), call(4, "failed"))
    assert plan(journal(*steps), facts()) == Turn()


def test_one_by_one_considers_the_first_call_alone() -> None:
    steps = (turn(1), call(2), call(3))
    known = facts(requests={2: "pending"}, allowed=frozenset({3}), parallel=False)
    assert plan(journal(*steps), known) == Park("waiting_approval")


def test_only_one_by_one_do_later_calls_wait_for_an_earlier_one() -> None:
    recorded = journal(turn(1), call(2), call(3), call(4, "declined"), call(5))
    assert [dependents(recorded, step, parallel=False) for step in (2, 3, 5)] == [2, 1, 0]
    assert dependents(recorded, 2, parallel=True) == 0


@pytest.mark.parametrize(
    ("steps", "status", "reason"),
    [
        ([call(2, "unknown"), call(3), call(4, "started", due_at=LATER)], "needs_attention", "unknown_outcome"),
        ([call(3), call(4, "started", due_at=LATER)], "waiting_approval", ""),
        ([call(4, "started", due_at=LATER)], "sleeping", ""),
    ],
)
def test_a_person_outranks_an_answer_and_an_answer_outranks_time(
    steps: list[StepRow], status: str, reason: str
) -> None:
    steps = [step._replace(seq=place) for place, step in enumerate(steps, 2)]
    requests = {step.seq: "pending" for step in steps if step.status == "planned"}
    found = plan(journal(turn(1), *steps), facts(requests=requests))
    assert found == Park(status, reason=reason, due_at=LATER)


def test_a_missing_permission_waits_until_a_person_lets_it_go_on() -> None:
    refused = attempt(closed_at=NOW, cause="permission", not_done=True)
    step = call(2, "started", attempts=(refused,))
    assert plan(journal(turn(1), step), facts()) == Park("needs_attention", reason="permission")
    again = step._replace(spent=1)
    assert plan(journal(turn(1), again), facts()) == Execute(again)


def test_a_turn_sleeps_until_its_time_and_then_goes_on() -> None:
    failed = turn(1, "started", due_at=LATER)
    assert plan(journal(failed), facts()) == Park("sleeping", due_at=LATER)
    assert plan(journal(failed), facts(now=LATER)) == Turn("model_turn", failed)


@pytest.mark.parametrize(
    ("budget", "used", "which"),
    [
        (Budget(tokens=10), {"tokens_total": 10}, "tokens"),
        (Budget(cost=Decimal("0.5")), {"cost_total": Decimal("0.50")}, "cost"),
        (Budget(seconds=1), {}, "seconds"),
    ],
)
def test_a_used_up_budget_is_a_matter_for_a_person(budget: Budget, used: dict[str, Any], which: str) -> None:
    found = plan(journal(turn(1, **used), call(2, "completed")), facts(budget=budget, worked=2.0))
    assert found == Park("needs_attention", reason="budget", message=f"The run's budget of {which} is used up.")


def test_the_limit_of_steps_ends_the_run() -> None:
    found = plan(journal(turn(1), call(2, "completed")), facts(max_steps=2))
    assert isinstance(found, Finish)
    assert found.reason == "max_steps"


def retried(at: int, *steps: StepRow) -> Journal:
    return journal(*steps)._replace(run=dataclasses.replace(RUN, budget={"retried_after": at}))


def test_a_retry_grants_the_steps_anew() -> None:
    steps = (turn(1), call(2, "completed"))
    assert plan(retried(2, *steps), facts(max_steps=2)) == Turn()
    more = (*steps, turn(3), call(4, "completed")._replace(turn=3))
    assert getattr(plan(retried(2, *more), facts(max_steps=2)), "reason", "") == "max_steps"


def test_a_retry_forgets_the_turns_that_brought_nothing() -> None:
    steps = [turn(1, result=""), turn(2, result=""), turn(3, result="")]
    assert getattr(plan(journal(*steps), facts()), "reason", "") == "repeats"
    assert plan(retried(3, *steps), facts()) == Turn()
    again = [step._replace(seq=step.seq + 3) for step in steps]
    assert plan(retried(3, *steps, *again[:2]), facts()) == Turn()
    assert getattr(plan(retried(3, *steps, *again), facts()), "reason", "") == "repeats"


def test_a_retry_lets_a_refused_call_be_put_to_people_again() -> None:
    refused = [call(seq, "declined", reason="rejected", digest="d") for seq in (2, 4, 6)]
    steps = [turn(1), refused[0], turn(3), refused[1], turn(5), refused[2]]
    assert refusals(journal(*steps), "t", "d", before=7) == 3
    assert refusals(retried(4, *steps), "t", "d", before=7) == 1


def test_the_world_is_observed_once_before_the_next_turn() -> None:
    steps = [turn(1), call(2, "completed")]
    assert plan(journal(*steps), facts(observe=True)) == Turn("observation")
    seen = StepRow(seq=3, kind="observation", status="completed")
    assert plan(journal(*steps, seen), facts(observe=True)) == Turn()


def test_a_context_that_fills_its_window_is_summed_up_once_all_calls_have_ended() -> None:
    steps = [turn(1), call(2, "completed"), turn(3, tokens_in=90, tokens_out=10)]
    waiting, done = call(4)._replace(turn=3), call(4, "completed")._replace(turn=3)
    assert plan(journal(*steps, waiting), facts(window=100, requests={4: "pending"})) == Park("waiting_approval")
    assert plan(journal(*steps, done), facts(window=101)) == Turn()
    assert plan(journal(*steps, done), facts(window=100)) == Turn("compaction")
    assert plan(journal(*steps, done, StepRow(5, "compaction", "completed")), facts(window=100)) == Turn()


def test_a_single_turn_leaves_nothing_to_sum_up() -> None:
    large = turn(1, tokens_in=900, tokens_out=10)
    assert plan(journal(large, call(2, "completed")), facts(window=100)) == Turn()


def test_three_turns_of_nothing_end_the_run() -> None:
    invalid = call(2, "declined", reason="invalid")
    steps: list[StepRow] = []
    for _ in range(2):
        steps += [turn(len(steps) + 1), invalid._replace(seq=len(steps) + 2)]
    assert plan(journal(*steps), facts()) == Turn()
    steps.append(turn(5, result=" "))
    assert getattr(plan(journal(*steps), facts()), "reason", "") == "repeats"


# --- chance plays the world -------------------------------------------------------------------------------


class Game:
    """Does what the plan says on an in-memory record; chance decides what the model, people and tools do."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.steps: list[StepRow] = []
        self.requests: dict[int, str] = {}
        self.allowed: set[int] = set()
        self.ran: list[int] = []
        self.now = NOW
        self.parallel = data.draw(st.booleans())
        self.trouble = data.draw(st.integers(0, 10))

    def goes_wrong(self) -> bool:
        """Chance sends trouble, but not for ever."""
        if self.trouble and self.data.draw(st.booleans()):
            self.trouble -= 1
            return True
        return False

    def play(self, rounds: int) -> Finish | None:
        for _ in range(rounds):
            known = facts(
                now=self.now,
                requests=self.requests,
                allowed=frozenset(self.allowed),
                max_steps=12,
                parallel=self.parallel,
            )
            action = plan(journal(*self.steps), known)
            assert action == plan(journal(*self.steps), known), "the plan is a function"
            if isinstance(action, Finish):
                return action
            getattr(self, type(action).__name__.lower())(action)
        return None

    def put(self, step: StepRow) -> None:
        if step.seq > len(self.steps):
            self.steps.append(step)
        else:
            self.steps[step.seq - 1] = step

    def turn(self, action: Turn) -> None:
        _, calls = tail(journal(*self.steps))
        assert all(each.ended for each in calls), "the model is asked only when every call has a result"
        seq = action.step.seq if action.step else len(self.steps) + 1
        if self.goes_wrong():
            return self.put(turn(seq, "started", due_at=self.now + timedelta(seconds=1)))
        count = self.data.draw(st.integers(0, 3))
        self.put(turn(seq, result="done" if not count else ""))
        for place in range(count):
            declined = self.data.draw(st.integers(0, 5)) == 0
            status, reason = ("declined", "invalid") if declined else ("planned", "")
            self.put(call(seq + 1 + place, status, reason=reason, effect="keyed"))
        return None

    def judge(self, action: Judge) -> None:
        assert action.step.status == "planned"
        assert action.step.seq not in self.requests
        match self.data.draw(st.sampled_from(["allow", "ask", "deny"])):
            case "allow":
                self.allowed.add(action.step.seq)
            case "ask":
                self.requests[action.step.seq] = "pending"
            case "deny":
                self.put(action.step._replace(status="declined", reason="refused"))

    def execute(self, action: Execute) -> None:
        step = action.step
        assert step.seq in self.allowed or self.requests.get(step.seq) == "approved", "nothing runs without a yes"
        assert step.status in ("planned", "started")
        wrong = ["unknown", "started", "crash"] if self.goes_wrong() else ["completed", "failed"]
        outcome = self.data.draw(st.sampled_from(wrong))
        self.ran.append(step.seq)
        if outcome == "crash":
            self.put(step._replace(status="started", attempts=(attempt(fence=1),)))
        else:
            later = self.now + timedelta(seconds=3) if outcome == "started" else None
            closed = attempt(closed_at=self.now, not_done=True)
            self.put(step._replace(status=outcome, attempts=(closed,), due_at=later))

    def recover(self, action: Recover) -> None:
        self.put(action.step._replace(attempts=(attempt(closed_at=self.now, not_done=False),)))

    def answered(self, action: Answered) -> None:
        assert self.requests[action.step.seq] in ("rejected", "expired")
        self.put(action.step._replace(status="declined", reason=self.requests[action.step.seq]))

    def park(self, action: Park) -> None:
        """Somebody or time moves the run on; there must be something that can."""
        waiting = [seq for seq, status in self.requests.items() if status == "pending"]
        unknown = [step for step in self.steps if step.status == "unknown"]
        if action.status == "needs_attention":
            assert unknown
            self.put(unknown[0]._replace(status="not_done"))
        elif action.status == "waiting_approval":
            assert waiting
            self.requests[waiting[0]] = self.data.draw(st.sampled_from(["approved", "rejected", "expired"]))
        else:
            assert action.due_at is not None
            assert action.due_at > self.now
            self.now = action.due_at


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_whatever_the_world_does_the_plan_runs_nothing_without_a_yes_and_comes_to_an_end(data: st.DataObject) -> None:
    game = Game(data)
    end = game.play(200)
    assert end is not None, "every run ends"
    declined = {step.seq for step in game.steps if step.status == "declined"}
    assert not declined & set(game.ran), "what was declined never ran"
