"""A boundary asks nobody whether a webhook hears of its run: the lease says so, whoever comes first."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections, transaction

from approvals import channels
from approvals.models import Channel, Delivery
from runs import commands, onward
from runs.entries import Closing, Journal, Opening, Planned
from runs.journal import Halted, Holder, load
from runs.models import Lease
from tenants.actors import COMMAND
from tenants.models import Tenant
from tenants.scope import scope
from tests.cast.journal import Started, begin, call, lapse

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

HEARD = ["step.completed", "step.started"]
ASKED = Closing(1, "completed", result="asked")
PAID = Closing(2, "completed", result="paid")


def _webhook(tenant: Tenant, *, enabled: bool = True) -> Channel:
    with scope(tenant.pk):
        values = {"url": "https://hooks.example/", "events": HEARD, "enabled": enabled}
        return Channel.objects.create(tenant_id=tenant.pk, kind="webhook", **values)


def _told(run: Started) -> list[tuple[str, int]]:
    with scope(run.tenant):
        found = Delivery.objects.filter(subject=f"run:{run.id}").order_by("seq")
        return list(found.values_list("kind", "seq"))


def _lease(run: Started) -> Lease:
    with scope(run.tenant):
        return Lease.objects.get(run_id=run.id)


def _read(run: Started) -> Journal:
    with scope(run.tenant):
        return load(run.tenant, run.id)


def _two_boundaries(door: Holder) -> None:
    door.close_turn_and_open(ASKED, plans=[call()], opening=Opening(2, key="k"))
    door.close_and_open(PAID, "model_turn")


@pytest.fixture
def door(run: Started) -> Holder:
    held = run.hold()
    held.open_turn()
    return held


def test_without_a_webhook_nothing_is_told_and_nobody_asked(run: Started, door: Holder) -> None:
    _two_boundaries(door)
    assert (_lease(run).heard, _told(run)) == (False, [])


def test_one_that_was_there_before_the_run_was_taken_hears_every_boundary(clerk: Tenant) -> None:
    _webhook(clerk)
    run = begin(clerk)
    door = run.hold()
    door.open_turn()
    _two_boundaries(door)
    assert _lease(run).heard
    names = run.events()
    assert _told(run) == [(name, seq) for seq, name in enumerate(names, 1) if name in HEARD]
    assert len(_told(run)) == 5


@pytest.mark.parametrize("way", ["made", "switched on"])
def test_one_that_comes_while_the_run_is_held_hears_what_follows(
    clerk: Tenant, run: Started, door: Holder, way: str
) -> None:
    hook = _webhook(clerk, enabled=way == "made")
    if way == "switched on":
        with scope(clerk.pk):
            Channel.objects.filter(pk=hook.pk).update(enabled=True)
    last = door.journal.last_event
    _two_boundaries(door)
    assert _told(run) == [
        (name, seq) for seq, name in enumerate(run.events(), 1) if seq > last and name in HEARD
    ]  # fmt: skip
    assert len(_told(run)) == 4


def test_a_usual_boundary_stays_one_statement_where_it_is_heard(clerk: Tenant, run: Started, door: Holder) -> None:
    _webhook(clerk)
    usual = onward.Usual(ASKED, call(), Opening(2, key="k"))
    assert onward.write(door._who, door.journal, usual, lambda: None) is None
    assert onward.write(door._who, door.journal, usual, lambda: None, heard=True)
    assert [name for name, _seq in _told(run)] == HEARD


@pytest.mark.parametrize("way", ["before", "meanwhile"])
def test_a_worker_of_the_release_before_asks_the_function_where_it_is_heard(clerk: Tenant, way: str) -> None:
    """Its statement counted on a trigger that is gone; it writes nothing by a lease that is halted."""
    if way == "before":
        _webhook(clerk)
    run = begin(clerk)
    door = run.hold()
    door.open_turn()
    if way == "meanwhile":
        _webhook(clerk)
    assert _lease(run).halted
    with scope(clerk.pk):
        Channel.objects.update(enabled=False)
    lapse(run)
    run.do(commands.pause)
    run.do(commands.resume)
    run.hold()
    assert not _lease(run).halted


def test_a_run_that_is_stopped_while_it_is_heard_goes_no_further(clerk: Tenant, run: Started, door: Holder) -> None:
    _webhook(clerk)
    run.do(commands.pause)
    last = len(run.events())
    usual = onward.Usual(ASKED, call(), Opening(2, key="k"))
    assert onward.write(door._who, _read(run), usual, lambda: None, heard=True) is None
    with pytest.raises(Halted):
        door.close_turn_and_open(ASKED, plans=[call()], opening=Opening(2, key="k"))
    assert run.events()[last:] == ["step.completed", "step.planned"]
    assert [name for name, seq in _told(run) if seq > last] == ["step.completed"]


def test_a_webhook_of_another_tenant_hears_nothing(run: Started, door: Holder, globex: Tenant) -> None:
    _webhook(globex)
    _two_boundaries(door)
    assert (_lease(run).heard, _told(run)) == (False, [])


def test_a_run_that_is_stopped_while_it_is_held_says_so_until_it_is_taken_again(run: Started, door: Holder) -> None:
    run.do(commands.pause)
    assert _lease(run).stopped
    run.do(commands.resume)
    assert (_lease(run).stopped, _lease(run).halted) == (True, True)  # Its holder is to find out.
    assert door.lease.fence == 1
    usual = onward.Usual(ASKED, Planned("model_turn"), Opening(2))
    assert onward.write(door._who, door.journal, usual, lambda: None) is None


def _until_somebody_waits() -> None:
    deadline = time.monotonic() + 10
    with connections["owner"].cursor() as cursor:
        while time.monotonic() < deadline:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
            if cursor.fetchone()[0]:
                return
            time.sleep(0.01)
    raise AssertionError("nobody waits")


def _apart(act: Callable[[], object]) -> Callable[[], None]:
    def done() -> None:
        try:
            act()
        finally:
            connection.close()

    return done


def test_a_webhook_waits_for_who_takes_a_run_just_now_and_finds_its_lease(clerk: Tenant, run: Started) -> None:
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic(), scope(clerk.pk):
            run.acquire()
            coming = pool.submit(_apart(lambda: _webhook(clerk)))
            _until_somebody_waits()
        coming.result(10)
    assert _lease(run).heard


def test_who_takes_a_run_does_not_wait_for_the_webhook_that_comes_just_now_and_counts_as_heard(
    clerk: Tenant, run: Started
) -> None:
    with ThreadPoolExecutor(1) as pool, transaction.atomic(), scope(clerk.pk):
        _webhook(clerk)
        pool.submit(_apart(run.acquire)).result(10)
    assert _lease(run).heard


def test_who_takes_a_run_waits_for_no_webhook_that_is_only_saved_anew(clerk: Tenant, run: Started) -> None:
    """Else either would wait for the other: who takes it for the webhook's row, the webhook for the lock of both."""
    hook = _webhook(clerk)
    with scope(clerk.pk):
        Channel.objects.filter(pk=hook.pk).update(events=["run.started"])
    with ThreadPoolExecutor(1) as pool, scope(clerk.pk):
        row = channels.found(hook.pk, webhook=True)
        pool.submit(_apart(run.acquire)).result(10)
        channels.change(row, actor=COMMAND, changes={"enabled": True})
    assert _told(run) == [("run.started", 2)]
