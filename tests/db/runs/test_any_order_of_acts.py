"""Workers, people and the sweep in any order that chance gives them: only listed transitions, all of them told."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import transaction
from django.db.models.functions import Now
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from runs import commands, leases, states, sweeping
from runs.entries import Closing, Opening, StepRow
from runs.journal import CannotDecline, Halted, Holder, LostLease, command, holder
from runs.models import Attempt, Lease, Step
from tenants.actors import SYSTEM
from tenants.events import after
from tenants.models import Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast import folding
from tests.cast.journal import KNOWS, Started, begin, call, lapse

pytestmark = pytest.mark.django_db

ENDS = [
    Closing(0, "completed", result="done"),
    Closing(0, "failed", result="no", cause="invalid", not_done=True),
    Closing(0, "unknown", cause="timeout", not_done=False),
    Closing(0, "started", cause="rate_limited", not_done=True, delay=0),
    Closing(0, "started", cause="server", not_done=False, delay=0),
]
PLACE = st.integers(0, 3)


class World(RuleBasedStateMachine):
    """One run, whoever holds it, and those who held it before."""

    def __init__(self, tenant: Tenant) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.run: Started = begin(tenant)
        self.door: Holder | None = None
        self.late: list[Holder] = []

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    # --- the worker's door --------------------------------------------------------------------------

    @property
    def holding(self) -> Holder:
        assert self.door
        return self.door

    def steps(self, wanted: Callable[[StepRow], bool]) -> list[StepRow]:
        return [step for step in self.holding.refresh().steps if wanted(step)]

    def in_hand(self) -> bool:
        return bool(self.door and self.steps(lambda step: step.open_attempt is not None))

    def held(self) -> bool:
        with scope(self.run.tenant):
            return Lease.objects.filter(run_id=self.run.id, until__gt=TransactionNow()).exists()

    def left(self) -> None:
        self.late.append(self.holding)
        self.door = None

    def try_to(self, act: Callable[[], Any]) -> None:
        """A holder of a run that was stopped meanwhile is told so, and has nothing left to do."""
        try:
            act()
        except (Halted, LostLease):
            assert self.run.row.status != "running"
            if not self.in_hand():
                leases.release(self.holding.lease)
                self.left()

    @precondition(lambda self: self.door is None)
    @rule()
    def take(self) -> None:
        before = self.run.row.status
        lease = leases.acquire(self.run.tenant, self.run.id, worker="worker:1", knows=KNOWS)
        assert (lease is not None) == (before == "queued" or (before in states.FINISHED and self._lost()))
        if lease:
            self.door = holder(lease)
            assert self.run.row.status == ("running" if before == "queued" else before)

    def _lost(self) -> bool:
        with scope(self.run.tenant):
            return Attempt.objects.filter(run_id=self.run.id, closed_at=None).exists()

    @precondition(lambda self: self.door and all(step.ended for step in self.steps(lambda _: True)))
    @rule(count=st.integers(0, 3))
    def ask(self, count: int) -> None:
        def asked() -> None:
            turn = self.holding.open_turn()
            plans = [call(call_id=f"c{turn.seq}-{each}", turn=turn.seq) for each in range(count)]
            self.holding.close_turn_and_open(Closing(turn.seq, "completed", result="asked"), plans=plans)

        self.try_to(asked)

    @precondition(lambda self: self.door and not self.in_hand())
    @rule(place=PLACE)
    def open(self, place: int) -> None:
        ready = self.steps(lambda step: step.status in ("planned", "started"))
        if ready:
            self.try_to(lambda: self.holding.open(Opening(ready[place % len(ready)].seq, key="k")))

    @precondition(lambda self: self.in_hand())
    @rule(end=st.sampled_from(ENDS))
    def close(self, end: Closing) -> None:
        (step,) = self.steps(lambda step: step.open_attempt is not None)
        if end.status == "unknown" and step.kind != states.TOOL_CALL:
            return
        values = {name: getattr(end, name) for name in ("status", "result", "cause", "not_done", "delay")}
        self.holding.close(Closing(step.seq, **values))

    @precondition(lambda self: self.door and not self.in_hand())
    @rule(how=st.sampled_from(["park", "sleep", "permission", "unknown_outcome", "give_back", "succeeded", "failed"]))
    def stop(self, how: str) -> None:
        door = self.holding
        acts: dict[str, Callable[[], Any]] = {
            "park": lambda: door.park(lambda _: True),
            "sleep": door.sleep,
            "give_back": lambda: door.give_back("its slice is used up"),
            "succeeded": lambda: door.finish("succeeded", result="done"),
            "failed": lambda: door.finish("failed", reason="model"),
        }
        try:
            acts.get(how, lambda: door.attention(how))()
        except (Halted, LostLease):
            assert self.run.row.status != "running"
            leases.release(door.lease)
        self.left()

    @precondition(lambda self: self.door)
    @rule()
    def vanish(self) -> None:
        """The holder is gone; the sweep finds its lease lapsed, and what it left open stays open for the next."""
        if self.held():
            wanted = self.run.row.status in {"running", *states.FINISHED}
            lapse(self.run)
            assert sweeping.leases() == wanted
        self.left()
        assert self.run.row.status != "running"

    @precondition(lambda self: self.late)
    @rule(place=PLACE)
    def write_too_late(self, place: int) -> None:
        told = self.run.events()
        door = self.late[place % len(self.late)]
        for act in (door.open_turn, lambda: door.close(Closing(1, "completed")), lambda: door.finish("succeeded")):
            with pytest.raises(LostLease):
                act()
        assert self.run.events() == told

    # --- everybody else's ---------------------------------------------------------------------------

    def command(self, act: Callable[..., Any], allowed: bool, *args: Any, **values: Any) -> None:
        """It is done exactly where the state allows it; else it is refused with the state that stands."""
        before, done = self.run.row.status, True
        try:
            self.run.do(act, *args, **values)
        except Refusal:
            done = False
        assert done == allowed, f"{act.__name__} of a run that was {before}"
        assert done or self.run.row.status == before

    @rule()
    def cancel(self) -> None:
        self.command(commands.cancel, self.run.row.status in states.UNFINISHED)

    @rule()
    def pause(self) -> None:
        self.command(commands.pause, self.run.row.status in states.UNFINISHED - {"paused"})

    @rule()
    def resume(self) -> None:
        row = self.run.row
        self.command(commands.resume, row.status == "paused" or row.reason == "permission")

    @rule()
    def retry(self) -> None:
        self.command(commands.retry, self.run.row.status == "failed")

    @rule(place=PLACE, outcome=st.sampled_from(["completed", "not_done", "do_again"]))
    def settle(self, place: int, outcome: str) -> None:
        unknown = [step.seq for step in self.run.journal.steps if step.status == "unknown"]
        if unknown:
            allowed = outcome != "do_again" or self.run.row.status in states.UNFINISHED
            seq = unknown[place % len(unknown)]
            with scope(self.run.tenant):  # So long ago that its process can no longer be inside it.
                Step.objects.filter(run_id=self.run.id, seq=seq).update(last_opened_at=Now() - timedelta(hours=1))
            self.command(commands.settle, allowed, seq, outcome=outcome, note="I asked them.")

    @rule(place=PLACE)
    def reject(self, place: int) -> None:
        found = [step for step in self.run.journal.steps if step.kind == states.TOOL_CALL]
        if not found:
            return
        step = found[place % len(found)]
        last = step.attempts[-1] if step.attempts else None
        between = step.status == "started" and last is not None and not last.open and last.not_done
        try:
            with scope(self.run.tenant):
                command(self.run.id, actor=SYSTEM).decline(step.seq, reason="rejected", text="no")
        except CannotDecline:
            assert step.status != "planned"
        else:
            assert step.status == "planned" or between

    @rule()
    def wake(self) -> None:
        row = self.run.row
        with scope(self.run.tenant):
            woken = command(self.run.id, actor=SYSTEM).wake("answered")
        assert not woken or row.status in states.PARKED

    # --- what holds whatever happens ----------------------------------------------------------------

    @invariant()
    def the_story_tells_the_rows(self) -> None:
        assert folding.demand_that_events_tell_the_rows_here()

    @invariant()
    def only_listed_transitions_are_told(self) -> None:
        with scope(self.run.tenant):
            told = after(f"run:{self.run.id}", 0, 10_000)
        kinds = {step.seq: step.kind for step in self.run.journal.steps}
        ways: dict[Any, list[str]] = {}
        for event in told:
            for key, state in folding.said(event.name, event.data).items():
                ways.setdefault(key, []).append(state)
        for (kind, seq), way in ways.items():
            machine = states.RUN if kind == "run" else states.machine(kinds[int(seq)])
            named = ["cancelled" if state == "declined" and machine is states.TURN else state for state in way]
            moved = [(old, new) for old, new in pairwise(named) if old != new or kind == "run"]
            assert all(machine.allows(old, new) for old, new in moved), (kind, seq, way)

    @invariant()
    def a_finished_run_waits_for_nothing(self) -> None:
        row = self.run.row
        if row.status in states.FINISHED:
            left = [step for step in self.run.journal.steps if step.status in ("planned", "started")]
            assert all(step.open_attempt for step in left), left
            assert row.due_at is None

    @invariant()
    def one_worker_at_most_holds_it(self) -> None:
        assert self.door if self.held() else self.door is None or self.run.row.status != "running"


def test_whatever_workers_people_and_the_sweep_do_the_states_are_the_listed_ones(clerk: Tenant) -> None:
    play = settings(max_examples=12, stateful_step_count=20, deadline=None)
    run_state_machine_as_test(partial(World, clerk), settings=play)  # type: ignore[no-untyped-call]
