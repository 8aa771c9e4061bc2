"""Real connections at once: one holder, no gap in the numbers, a lease that is renewed while its holder works."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from runs import announcing, commands, engine, leases, renewal, sweeping
from runs.entries import Closing
from runs.journal import Halted, LostLease, holder
from runs.models import Run
from runs.renewal import Key
from tenants.models import Tenant
from tenants.scope import scope
from tests.agents import ledger
from tests.cast import runs
from tests.cast.journal import KNOWS, Started, begin, lapse
from tests.harness.database import NAME, owner

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _forget(settings: Any) -> Iterator[None]:
    settings.LEASE_SECONDS = 5.0
    yield
    for key in list(renewal._renewer.held):
        renewal.forget(key)


def _at_once(*acts: Callable[[], Any]) -> list[Any]:
    def alone(act: Callable[[], Any]) -> Any:
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [future.result() for future in [pool.submit(alone, act) for act in acts]]


def _past() -> datetime:
    return timezone.now() - timedelta(minutes=1)


def _take(run: Started, worker: int) -> leases.Lease | None:
    return leases.acquire(run.tenant, run.id, worker=f"worker:{worker}", knows=KNOWS)


def test_of_many_takers_one_wins(run: Started) -> None:
    found = _at_once(*[lambda n=n: _take(run, n) for n in range(8)])
    assert len([lease for lease in found if lease]) == 1
    assert run.events() == ["run.queued", "run.started"]


def test_two_sweeps_at_once_recover_a_run_once(run: Started) -> None:
    run.hold().open_turn()
    lapse(run)
    _at_once(*[sweeping.leases] * 4)
    assert run.events().count("run.recovered") == 1


def test_a_run_whose_lock_somebody_keeps_hinders_no_other_run(clerk: Tenant) -> None:
    """As by a process that was stopped, or cut off from the database, in the middle of a transaction."""
    kept, other = begin(clerk), begin(clerk)
    for run in (kept, other):
        run.hold().open_turn()
        lapse(run)
    with owner(NAME) as session, session.transaction():
        session.execute("SELECT subject_lock(%s, %s)", [kept.tenant, f"run:{kept.id}"])
        for sweep in (sweeping.leases, sweeping.runs, sweeping.deadlines, sweeping.answers):
            sweep()
        assert (kept.row.status, other.row.status) == ("running", "queued")
    sweeping.leases()
    assert kept.row.status == "queued"


def test_who_stops_a_run_and_stands_still_keeps_no_other_lease_from_being_renewed(clerk: Tenant) -> None:
    """As by a process that was stopped, or cut off from the database, when it had just paused one of the runs."""
    stopped, other = (Key(run.tenant, run.id, run.acquire().fence) for run in (begin(clerk), begin(clerk)))
    before = renewal.known_until(stopped), renewal.known_until(other)
    with ThreadPoolExecutor(1) as pool, owner(NAME) as session:
        with session.transaction(force_rollback=True):
            session.execute("SELECT set_config('app.tenant', %s, true)", [str(clerk.pk)])
            session.execute("UPDATE runs_run SET status = 'paused' WHERE id = %s", [stopped.run])
            renewed, _waiting = wait([pool.submit(renewal._renewer.renew)], 10)
        assert renewed
        assert renewal.known_until(stopped) == before[0]
        assert renewal.known_until(other) > before[1]
    renewal._renewer.renew()
    assert renewal.known_until(stopped) > before[0]


@pytest.mark.parametrize("sweep", [sweeping.runs, sweeping.deadlines])
def test_a_due_run_whose_lock_somebody_keeps_is_left_to_the_next_sweep(clerk: Tenant, sweep: Callable[[], int]) -> None:
    run = begin(clerk)
    with scope(run.tenant):
        Run.objects.filter(pk=run.id).update(due_at=_past(), deadline=_past())
    with owner(NAME) as session, session.transaction():
        session.execute("SELECT subject_lock(%s, %s)", [run.tenant, f"run:{run.id}"])
        assert sweep() == 1
        assert run.events() == ["run.queued"]
    sweeping.deadlines()
    assert run.row.status == "failed"


def test_a_run_whose_holder_found_its_own_lease_lapsed_is_recovered(acme: Tenant, settings: Any) -> None:
    """As after a host that slept: the holder sees it before any renewal or sweep does."""
    settings.LEASE_SECONDS = 60.0
    run = runs.start(acme, [runs.call("pay", how="hold")])
    queued = Started(acme.pk, run)

    def meanwhile() -> None:
        runs.so(lambda: ledger.acts(run))
        lapse(queued)
        ledger.let_go(run)

    _at_once(
        lambda: engine.advance(acme.pk, run, worker="worker:1", knows=announcing.knows(), stopping=lambda: False),
        meanwhile,
    )
    assert runs.read(acme, run).status == "running"
    sweeping.leases()
    assert runs.read(acme, run).status == "queued"
    assert queued.events()[-1] == "run.recovered"


def test_numbers_have_no_gap_whoever_writes_at_once(run: Started) -> None:
    door = run.hold()

    def work() -> None:
        for _ in range(10):
            turn = door.open_turn()
            door.close(Closing(turn.seq, "completed", result="x"))

    def talk() -> None:
        for _ in range(10):
            run.do(commands.comment, text="Looking at it.")

    _at_once(work, talk, talk)
    assert run.events().count("run.commented") == 20
    assert run.events().count("step.completed") == 10


def test_a_cancel_in_the_middle_leaves_one_order_and_nothing_open(run: Started) -> None:
    door = run.hold()

    def work() -> None:
        turn = door.open_turn()
        while True:  # For as long as it may: as fast as a machine can be, it is still at work when the cancel comes.
            try:
                turn = door.close_and_open(Closing(turn.seq, "completed", result="x"), "model_turn")
            except (Halted, LostLease):
                return

    def stop() -> None:
        time.sleep(0.05)
        run.do(commands.cancel)

    _at_once(work, stop)
    assert all(step.ended for step in run.journal.steps)
    assert "step.started" not in run.events()[run.events().index("run.cancelled") :]


def test_a_lease_is_renewed_while_its_holder_works(run: Started, settings: Any) -> None:
    settings.LEASE_SECONDS = 3.0
    lease = run.acquire()
    door = holder(lease)
    turn = door.open_turn()
    time.sleep(5)
    assert lease.remaining() > 0
    assert _take(run, 2) is None
    door.close(Closing(turn.seq, "completed", result="worked for longer than the lease"))
    assert run.journal.step(1).status == "completed"
