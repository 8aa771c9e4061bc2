"""One worker at a time: taken, kept, lost, given back; by the database's clock."""

import time
from collections.abc import Callable, Iterator

import pytest
import time_machine
from django.db import connection

from runs import commands, leases, renewal, sweeping
from runs.entries import Closing, Opening
from runs.journal import Halted, LostLease
from runs.models import Lease, Run
from tenants.scope import scope
from tests.cast.journal import KNOWS, Started, ask, call, lapse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    for key in list(renewal._renewer.held):
        renewal.forget(key)


def _row(run: Started) -> Lease:
    with scope(run.tenant):
        return Lease.objects.get(run_id=run.id)


def test_taking_a_queued_run_starts_it(run: Started) -> None:
    lease = run.acquire()
    assert (run.row.status, lease.fence, _row(run).holder) == ("running", 1, "worker:1")
    assert run.events() == ["run.queued", "run.started"]


def test_a_run_that_is_held_is_not_taken(run: Started) -> None:
    run.acquire()
    assert leases.acquire(run.tenant, run.id, worker="worker:2", knows=KNOWS) is None
    assert run.events().count("run.started") == 1


def test_a_worker_that_does_not_know_the_version_leaves_the_run(run: Started) -> None:
    assert leases.acquire(run.tenant, run.id, worker="worker:1", knows=["clerk@2"]) is None
    assert run.row.status == "queued"


@pytest.mark.parametrize("command", [commands.pause, commands.cancel])
def test_a_paused_or_finished_run_is_not_taken(run: Started, command: Callable[..., Run]) -> None:
    run.do(command)
    assert leases.acquire(run.tenant, run.id, worker="worker:1", knows=KNOWS) is None


def test_an_unknown_run_is_not_taken(run: Started) -> None:
    assert leases.acquire(run.id, run.tenant, worker="worker:1", knows=KNOWS) is None


def test_a_renewal_keeps_the_lease_and_a_lapsed_one_is_not_renewed(run: Started) -> None:
    lease = run.acquire()
    key = renewal.Key(lease.tenant, lease.run, lease.fence)
    renewer = renewal.Renewer()
    renewer.held[key] = 0.0
    renewer.raw = connection.connection
    before = _row(run).until
    renewer.renew()
    assert before is not None
    assert (_row(run).until or before) > before
    assert renewer.held[key] > time.monotonic()
    lapse(run)
    renewer.renew()
    assert key not in renewer.held


@pytest.mark.parametrize("minutes", [10, -10])
def test_a_workers_own_clock_decides_nothing(run: Started, minutes: int) -> None:
    run.acquire()
    with time_machine.travel(time.time() + 60 * minutes, tick=True):
        assert leases.acquire(run.tenant, run.id, worker="worker:2", knows=KNOWS) is None
        sweeping.leases(10)
    assert run.row.status == "running"


def test_a_lapsed_lease_is_found_by_the_sweep_and_the_run_queued_again(run: Started) -> None:
    door = run.hold()
    door.open_turn()
    lapse(run)
    assert sweeping.leases(10) == 1
    assert (run.row.status, run.events()[-1]) == ("queued", "run.recovered")
    assert sweeping.leases(10) == 0
    again = run.hold("worker:2")
    assert again.lease.fence == 2
    assert again.journal.step(1).open_attempt is not None
    assert again.journal.step(1).attempts[0].fence == 1


def test_a_holder_that_vanishes_three_times_at_one_step_is_a_matter_for_a_person(run: Started) -> None:
    for crash in range(3):
        door = run.hold()
        if crash == 0:
            door.open_turn()
        else:
            door.close(Closing(1, "started", cause="crashed", not_done=False))
            door.open(Opening(1))
        lapse(run)
        sweeping.leases(10)
    assert (run.row.status, run.row.reason) == ("needs_attention", "crash_loop")
    run.do(commands.resume)
    assert run.row.status == "queued"
    run.hold()
    lapse(run)
    sweeping.leases(10)
    assert run.row.reason == "crash_loop", "it tries once more, not three times"


def test_crashes_at_different_steps_are_no_loop(run: Started) -> None:
    for step in (1, 2, 3):
        door = run.hold()
        if step > 1:
            door.close(Closing(step - 1, "completed", result="x"))
        door.open_turn()
        lapse(run)
        sweeping.leases(10)
    assert run.row.status == "queued"


def test_giving_back_queues_the_run_without_a_failure(run: Started) -> None:
    door = run.hold()
    door.give_back("shutdown")
    assert (run.row.status, run.events()[-1], _row(run).until) == ("queued", "run.resumed", None)
    assert run.hold("worker:2").lease.fence == 2


def test_the_time_a_lease_was_held_is_counted(run: Started) -> None:
    door = run.hold()
    time.sleep(0.05)
    door.give_back("slice")
    assert 0.05 <= run.journal.run.worked < 1


def test_a_holder_keeps_its_lease_after_cancel_until_the_call_ends(run: Started) -> None:
    door = run.hold()
    door.open_turn()
    run.do(commands.cancel)
    assert _row(run).until is not None
    door.close(Closing(1, "completed", result="late, but true"))
    leases.release(door.lease)
    assert (_row(run).until, run.journal.step(1).status) == (None, "completed")


def test_a_run_resumed_while_its_call_is_in_hand_waits_for_that_call(run: Started) -> None:
    door = run.hold()
    door.open_turn()
    run.do(commands.pause)
    run.do(commands.resume)
    assert leases.acquire(run.tenant, run.id, worker="worker:2", knows=KNOWS) is None
    with pytest.raises(Halted, match="queued"):
        door.close_and_open(Closing(1, "completed", result="x"), "model_turn")
    leases.release(door.lease)
    assert run.hold("worker:2").lease.fence == 2


def test_what_a_lost_holder_of_a_cancelled_run_had_in_hand_is_ended_by_its_effect(run: Started) -> None:
    door = run.hold()
    ask(door, call(effect="manual"), opening=Opening(2))
    run.do(commands.cancel)
    assert run.journal.step(2).status == "started"
    lapse(run)
    sweeping.leases(10)
    assert (run.journal.step(2).status, run.journal.step(2).reason) == ("unknown", "cancelled")
    assert sweeping.leases(10) == 0


def test_a_tool_that_can_be_asked_is_asked_also_after_its_run_was_cancelled(run: Started) -> None:
    door = run.hold()
    ask(door, call(effect="lookup"), opening=Opening(2))
    run.do(commands.cancel)
    lapse(run)
    sweeping.leases(10)
    door = run.hold("worker:2")
    assert run.row.status == "cancelled"
    door.close(Closing(2, None, cause="crashed", not_done=False))
    with pytest.raises(Halted):
        door.open(Opening(2))
    door.open(Opening(2, kind="lookup"))
    door.close(Closing(2, "completed", result="it was done"))
    leases.release(door.lease)
    assert (run.journal.step(2).status, run.row.status) == ("completed", "cancelled")
    assert sweeping.leases(10) == 0


def test_a_lease_that_lapsed_in_the_middle_is_noticed_at_the_lock(run: Started) -> None:
    door = run.hold()
    lapse(run)
    with pytest.raises(LostLease):
        door.park(lambda journal: True)
    assert run.row.status == "running"
