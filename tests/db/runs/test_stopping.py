"""How a run stops: parked with its steps read again, asleep until the earliest of them, finished with all closed."""

from datetime import timedelta

import pytest
from django.contrib.postgres.functions import TransactionNow

from approvals.signals import Story
from runs import commands, sweeping
from runs.command import agreed
from runs.entries import Closing, Journal, Opening
from runs.journal import command
from runs.models import Lease, Run, Text
from runs.states import IllegalMove
from tenants.actors import SYSTEM
from tenants.models import Event
from tenants.scope import scope
from tests.cast.journal import Started, ask, call

pytestmark = pytest.mark.django_db


def _decline(run: Started, step: int, text: str = "Not this one.") -> None:
    with scope(run.tenant):
        command(run.id, actor=SYSTEM).decline(step, reason="rejected", text=text)


def _waits(journal: Journal) -> bool:
    return any(step.status == "planned" for step in journal.steps)


def test_parking_ends_the_lease_in_the_same_commit(run: Started) -> None:
    door = run.hold()
    ask(door, call())
    assert door.park(_waits)
    assert (run.row.status, run.events()[-1]) == ("waiting_approval", "run.waiting")
    with scope(run.tenant):
        assert Lease.objects.get(run_id=run.id).until is None


def test_an_answer_just_before_parking_is_not_lost(run: Started) -> None:
    door = run.hold()
    ask(door, call())
    _decline(run, 2)
    assert not door.park(_waits)
    assert run.row.status == "running"
    assert (door.journal.step(2).status, door.journal.step(2).result) == ("declined", "Not this one.")


def test_a_reason_of_two_thousand_characters_reaches_the_model_unchanged(run: Started) -> None:
    door = run.hold()
    ask(door, call())
    door.park(_waits)
    _decline(run, 2, "因为 " + "x" * 2000)
    assert run.journal.step(2).result == "因为 " + "x" * 2000


def test_an_answer_after_parking_queues_the_run(run: Started) -> None:
    door = run.hold()
    ask(door, call())
    door.park(_waits)
    with scope(run.tenant):
        assert command(run.id, actor=SYSTEM).wake("approved")
    assert (run.row.status, run.events()[-1]) == ("queued", "run.resumed")


@pytest.mark.parametrize("state", ["leased", "paused", "cancelled"])
def test_an_answer_leaves_a_run_that_is_leased_paused_or_over_as_it_is(run: Started, state: str) -> None:
    door = run.hold()
    ask(door, call())
    if state != "leased":
        door.park(_waits)
        run.do({"paused": commands.pause, "cancelled": commands.cancel}[state])
    before = run.row.status
    with scope(run.tenant):
        assert not command(run.id, actor=SYSTEM).wake("approved")
    assert run.row.status == before


@pytest.mark.parametrize(("state", "last"), [("parked", ["run.resumed"]), ("paused", []), ("leased", [])])
def test_a_yes_and_what_it_does_to_its_run_are_told_in_order(run: Started, state: str, last: list[str]) -> None:
    door, heard = run.hold(), list[int]()
    ask(door, call())
    if state != "leased":
        door.park(_waits)
    if state == "paused":
        run.do(commands.pause)
    before = run.events()
    told = ("approval.reviewed", "Said yes", {"decision": "approve"}), ("approval.edited", "", {})
    with scope(run.tenant):
        agreed(run.id, step=2, request=run.id, story=Story(told, heard.append), actor=SYSTEM)
    assert run.events() == [*before, "approval.reviewed", "approval.edited", *last]
    with scope(run.tenant):
        events = list(Event.objects.filter(subject=f"run:{run.id}").order_by("seq"))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert heard == [len(events)]
    assert (events[len(before)].message, events[len(before)].data) == ("Said yes", {"decision": "approve"})
    if last:
        assert events[-1].data == {"because": "approved", "request": str(run.id), "step": 2}


@pytest.mark.parametrize(("reason", "woken"), [("unknown_outcome", True), ("budget", False), ("crash_loop", False)])
def test_an_answer_wakes_a_run_only_where_it_makes_something_possible(run: Started, reason: str, woken: bool) -> None:
    door = run.hold()
    ask(door, call())
    door.attention(reason, _waits)
    with scope(run.tenant):
        assert command(run.id, actor=SYSTEM).wake("approved") == woken


def test_a_sleeping_run_carries_the_earliest_time_of_its_steps_and_is_queued_then(run: Started) -> None:
    door = run.hold()
    ask(door, call(), call(call_id="c2"), opening=Opening(2, key="k"))
    door.close(Closing(2, "started", cause="rate_limited", not_done=True, delay=3600))
    door.open(Opening(3, key="k"))
    door.close(Closing(3, "started", cause="server", not_done=True, delay=1800))
    door.sleep()
    row = run.row
    assert row.status == "sleeping"
    assert row.due_at == min(step.due_at for step in run.journal.steps if step.due_at)
    assert sweeping.runs(10) == 0
    _hurry(run)
    assert sweeping.runs(10) == 1
    assert (run.row.status, run.events()[-1]) == ("queued", "run.resumed")


def test_a_run_that_waits_for_people_carries_the_time_of_a_sibling_too(run: Started) -> None:
    door = run.hold()
    ask(door, call(), call(call_id="c2"), opening=Opening(2, key="k"))
    door.close(Closing(2, "started", cause="server", not_done=True, delay=60))
    door.park(_waits)
    assert run.row.due_at is not None


def test_pausing_puts_no_time_on_the_run_and_resuming_queues_it(run: Started) -> None:
    door = run.hold()
    ask(door, call(), opening=Opening(2, key="k"))
    door.close(Closing(2, "started", cause="server", not_done=True, delay=60))
    door.sleep()
    run.do(commands.pause)
    assert run.row.due_at is None
    assert run.do(commands.resume).status == "queued"


def test_a_finished_run_has_nothing_open(run: Started) -> None:
    door = run.hold()
    ask(door, call(), call(call_id="c2"), call(call_id="c3", effect="read"), call(call_id="c4", effect="manual"))
    for seq, done in ((3, True), (4, False), (5, False)):
        door.open(Opening(seq, key="k"))
        door.close(Closing(seq, "started", cause="server", not_done=done, delay=60))
    door.finish("failed", reason="max_steps", message="Too many steps.")
    assert [(s.status, s.reason) for s in run.journal.steps[1:]] == [
        ("declined", "cancelled"),
        ("declined", "cancelled"),
        ("failed", "cancelled"),
        ("unknown", "cancelled"),
    ]
    row = run.row
    assert (row.status, row.reason, row.due_at, row.finished_at is not None) == ("failed", "max_steps", None, True)
    assert run.events()[-1] == "run.failed"


def test_a_cancelled_run_names_what_is_in_hand_and_leaves_it(run: Started) -> None:
    door = run.hold()
    ask(door, call(), call(call_id="c2"), opening=Opening(2, key="k"))
    run.do(commands.cancel)
    with scope(run.tenant):
        told = _event(run, "run.cancelled")
    assert told["in_hand"] == [2]
    assert [s.status for s in run.journal.steps] == ["completed", "started", "declined"]


def test_a_call_that_ends_between_attempts_after_cancel_goes_no_further(run: Started) -> None:
    door = run.hold()
    ask(door, call(effect="keyed"), opening=Opening(2, key="k"))
    run.do(commands.cancel)
    closed = door.close(Closing(2, "started", cause="server", not_done=False, delay=5))
    assert (closed.status, closed.reason, run.journal.step(2).status) == ("unknown", "cancelled", "unknown")


def test_the_result_of_a_run_is_kept_as_it_came(run: Started) -> None:
    door = run.hold()
    door.finish("succeeded", result="done: 12345678901234567890.10")
    with scope(run.tenant):
        assert Text.objects.get(run_id=run.id, name="result").body == "done: 12345678901234567890.10"


def test_a_listed_move_alone_is_made(run: Started) -> None:
    with scope(run.tenant), pytest.raises(IllegalMove):
        command(run.id, actor=SYSTEM).move("succeeded")


@pytest.mark.parametrize("state", ["queued", "running", "waiting", "paused"])
def test_a_run_past_its_deadline_fails_whatever_its_state(run: Started, state: str) -> None:
    if state in ("running", "waiting"):
        door = run.hold()
        ask(door, call())
        if state == "waiting":
            door.park(_waits)
    if state == "paused":
        run.do(commands.pause)
    with scope(run.tenant):
        Run.objects.filter(pk=run.id).update(deadline=TransactionNow() - timedelta(seconds=1))
    assert sweeping.deadlines(10) == 1
    assert (run.row.status, run.row.reason) == ("failed", "deadline")
    assert not _waits(run.journal)
    assert sweeping.deadlines(10) == 0


def _hurry(run: Started) -> None:
    with scope(run.tenant):
        Run.objects.filter(pk=run.id).update(due_at=TransactionNow() - timedelta(seconds=1))


def _event(run: Started, name: str) -> dict[str, object]:
    return Event.objects.get(subject=f"run:{run.id}", name=name).data
