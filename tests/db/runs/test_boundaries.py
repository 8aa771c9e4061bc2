"""A worker's boundaries: what each writes, in one commit, and what it says when it may not."""

from collections.abc import Callable

import pytest
from django.db import connection

from runs import commands, sweeping
from runs.entries import Closing, Opening, Usage
from runs.journal import Halted, LostLease, StaleStamp
from runs.models import Attempt, Run
from tenants import stamps
from tenants.scope import scope
from tests.cast.journal import Started, ask, call, lapse

pytestmark = pytest.mark.django_db


def _stamp(run: Started) -> int:
    with scope(run.tenant):
        return stamps.read()


def test_a_turn_with_its_call_and_the_call_with_the_next_turn_are_two_boundaries(run: Started) -> None:
    door = run.hold()
    opened = ask(door, call(), opening=Opening(2, key="k", stamp=_stamp(run)))
    assert opened is not None
    assert (opened.seq, opened.status, opened.tries, opened.open_attempt is not None) == (2, "started", 1, True)
    turn = door.close_and_open(Closing(2, "completed", result="paid"), "model_turn")
    assert (turn.seq, turn.kind, turn.status) == (3, "model_turn", "started")
    assert run.events() == [
        "run.queued", "run.started", "step.planned", "step.started", "step.completed", "step.planned", "step.started",
        "step.completed", "step.planned", "step.started",
    ]  # fmt: skip


def test_the_journal_a_door_keeps_is_the_one_that_is_recorded(run: Started) -> None:
    door = run.hold()
    ask(door, call(), call(call_id="c2"), opening=Opening(2, key="k", stamp=_stamp(run)))
    door.close(Closing(2, "started", cause="server", message="503", not_done=False, delay=5))
    door.open(Opening(2, key="k", stamp=_stamp(run)))
    door.close_and_open(Closing(2, "completed", result="paid"), Opening(3, key="k3", stamp=_stamp(run)))
    read = run.journal
    assert [s.seq for s in door.journal.steps] == [s.seq for s in read.steps]
    for kept, recorded in zip(door.journal.steps, read.steps, strict=True):
        assert (kept.status, kept.tries, kept.result, kept.digest, kept.arguments, kept.due_at) == (
            recorded.status, recorded.tries, recorded.result, recorded.digest, recorded.arguments, recorded.due_at,
        )  # fmt: skip
    assert read.step(3).attempts == door.journal.step(3).attempts
    assert (door.journal.last_event, door.journal.next_seq, door.behind) == (read.last_event, read.next_seq, False)


def test_an_attempt_is_open_before_the_call_and_closed_with_its_cause_after_it(run: Started) -> None:
    door = run.hold()
    ask(door, call(), opening=Opening(2, key="the key", stamp=_stamp(run)))
    with scope(run.tenant):
        opened = Attempt.objects.get(run_id=run.id, seq=2)
    assert (opened.number, opened.key, opened.closed_at, opened.fence) == (1, "the key", None, 1)
    door.close(Closing(2, "started", cause="rate_limited", message="429", not_done=True, delay=30))
    with scope(run.tenant):
        closed = Attempt.objects.get(run_id=run.id, seq=2)
    assert (closed.cause, closed.message, closed.not_done) == ("rate_limited", "429", True)
    assert closed.closed_at is not None
    assert closed.next_at is not None
    assert abs((closed.next_at - closed.closed_at).total_seconds() - 30) < 0.001


def test_calls_that_are_invalid_are_planned_and_declined_in_the_turns_own_commit(run: Started) -> None:
    door = run.hold()
    ask(door, call(tool="nope", declined="invalid", result="There is no such tool."), call(call_id="c2"))
    first, second = door.journal.steps[1:]
    assert (first.status, first.reason, first.result) == ("declined", "invalid", "There is no such tool.")
    assert second.status == "planned"
    assert run.journal.steps[1].result == "There is no such tool."
    assert run.events()[-3:] == ["step.planned", "step.declined", "step.planned"]


def test_usage_adds_up_over_the_turns(run: Started) -> None:
    door = run.hold()
    for tokens in (10, 5):
        turn = door.open_turn()
        door.close(Closing(turn.seq, "completed", result="x", usage=Usage(tokens, 1)))
        ask(door)
    assert run.journal.tokens == door.journal.tokens == 17


def test_a_stale_holder_writes_nothing(run: Started) -> None:
    old = run.hold("worker:1")
    old.open_turn()
    lapse(run)
    before = run.events()
    for write in (
        lambda: old.close(Closing(1, "completed", result="late")),
        old.open_turn,
        lambda: old.finish("succeeded", result="late"),
        lambda: old.give_back("late"),
        lambda: old.locked(lambda journal: None),
    ):
        with pytest.raises(LostLease):
            write()
    assert run.events() == before
    assert run.journal.step(1).status == "started"


def test_a_stale_holder_writes_nothing_also_when_another_holds_the_run(run: Started) -> None:
    old = run.hold("worker:1")
    old.open_turn()
    lapse(run)
    sweeping.leases(10)
    new = run.hold("worker:2")
    assert new.lease.fence == old.lease.fence + 1
    with pytest.raises(LostLease):
        old.close(Closing(1, "completed", result="late"))
    new.close(Closing(1, "started", cause="crashed", not_done=False))
    assert run.journal.step(1).result is None


@pytest.mark.parametrize("command", [commands.pause, commands.cancel])
def test_after_pause_or_cancel_no_step_starts_and_what_is_in_hand_is_recorded(
    run: Started, command: Callable[..., Run]
) -> None:
    door = run.hold()
    ask(door, call(), call(call_id="c2"), opening=Opening(2, key="k", stamp=_stamp(run)))
    status = run.do(command).status
    with pytest.raises(Halted, match=status):
        door.close_and_open(Closing(2, "completed", result="paid"), Opening(3, key="k", stamp=_stamp(run)))
    journal = run.journal
    assert (journal.step(2).status, journal.step(2).result) == ("completed", "paid")
    assert journal.step(3).status == ("planned" if status == "paused" else "declined")
    assert journal.step(3).tries == 0


def test_a_turn_answered_after_its_run_was_cancelled_starts_nothing(run: Started) -> None:
    door = run.hold()
    turn = door.open_turn()
    run.do(commands.cancel)
    with pytest.raises(Halted):
        door.close_turn_and_open(
            Closing(turn.seq, "completed", result="asks"), plans=[call(), call(call_id="c2")],
            opening=Opening(2, key="k", stamp=_stamp(run)),
        )  # fmt: skip
    steps = run.journal.steps
    assert [(s.status, s.reason) for s in steps] == [("completed", ""), *[("declined", "cancelled")] * 2]
    assert [s.status for s in door.journal.steps] == [s.status for s in steps]
    assert run.events().index("run.cancelled") < run.events().index("step.completed")


def test_a_change_of_rules_between_check_and_opening_opens_nothing(run: Started) -> None:
    door = run.hold()
    stamp = _stamp(run)
    with scope(run.tenant):
        stamps.bump()
    with pytest.raises(StaleStamp):
        ask(door, call(), opening=Opening(2, key="k", stamp=stamp))
    assert [s.status for s in run.journal.steps] == ["completed", "planned"]
    assert door.open(Opening(2, key="k", stamp=stamp + 1)).status == "started"


def test_a_precondition_is_an_attempt_that_leaves_its_step_planned(run: Started) -> None:
    door = run.hold()
    ask(door, call())
    assert door.open(Opening(2, kind="precondition")).status == "planned"
    assert door.close(Closing(2, None)).status == "planned"
    opened = door.open(Opening(2, key="k", stamp=_stamp(run)))
    assert [(a.number, a.kind) for a in opened.attempts] == [(1, "precondition"), (2, "call")]
    assert run.journal.step(2).attempts == opened.attempts


def test_an_edit_replaces_the_bound_arguments_and_leaves_the_models_own(run: Started) -> None:
    door = run.hold()
    ask(door, call())
    door.open(Opening(2, key="k", stamp=_stamp(run), arguments='{"a": 2}', digest="e"))
    step = run.journal.step(2)
    assert (step.proposed, step.arguments, step.digest) == ('{"a": 1}', '{"a": 2}', "e")


def test_a_door_knows_that_somebody_else_wrote(run: Started) -> None:
    door = run.hold()
    turn = door.open_turn()
    run.do(commands.comment, text="Looking at it.")
    door.close(Closing(turn.seq, "completed", result="x"))
    assert door.behind
    assert door.refresh().last_event == door.journal.last_event
    assert not door.behind


def test_a_journal_is_read_from_its_last_completed_compaction_on(run: Started) -> None:
    door = run.hold()
    ask(door)
    compaction = door.open_turn("compaction")
    door.close_and_open(Closing(compaction.seq, "completed", result="summary"), "model_turn")
    for journal in (run.journal, door.journal):
        assert [(s.seq, s.kind) for s in journal.steps] == [(2, "compaction"), (3, "model_turn")]
        assert journal.next_seq == 4
        assert journal.step(3).status == "started"


@pytest.mark.parametrize("text", ['{"n": 12345678901234567890.10}', '{"b": 1, "a": 1}', "😀" * 300_000, "\u202ex"])
def test_texts_survive_exactly(run: Started, text: str) -> None:
    door = run.hold()
    ask(door, call(proposed=text, arguments=text), opening=Opening(2, key="k", stamp=_stamp(run)))
    door.close(Closing(2, "completed", result=text))
    step = run.journal.step(2)
    assert (step.proposed, step.arguments, step.result) == (text, text, text)


def test_a_compaction_says_how_many_turns_it_ended(run: Started) -> None:
    door = run.hold()
    for number in range(3):
        turn = door.open_turn()
        if number == 2:
            door.close_and_open(Closing(turn.seq, "completed", result=""), "compaction")
        else:
            door.close(Closing(turn.seq, "completed", result=""))
    compaction = door.journal.steps[-1]
    door.close(Closing(compaction.seq, "completed", result="summary"))
    for journal in (door.journal, run.journal):
        assert (journal.steps[0].kind, journal.steps[0].turn, journal.turns) == ("compaction", 3, 3)
    door.close_and_open(Closing(door.open_turn().seq, "completed", result=""), "compaction")
    assert (door.journal.steps[-1].turn, door.journal.turns) == (4, 4)


def test_of_what_a_compaction_ended_no_row_is_read(run: Started) -> None:
    door = run.hold()
    for _ in range(30):
        door.close(Closing(door.open_turn().seq, "completed", result=""))
    door.close(Closing(door.open_turn("compaction").seq, "completed", result="summary"))
    with connection.cursor() as cursor:
        # A table this small may be read whole, and a plan made for a smaller one is kept: neither is what is asked.
        cursor.execute("DISCARD PLANS")
        cursor.execute("SET LOCAL enable_seqscan = off")
    before = _rows_read(run)
    assert len(run.journal.steps) == 1
    assert _rows_read(run) - before < 10


def _rows_read(run: Started) -> int:
    """Of the steps, in this transaction."""
    with scope(run.tenant), connection.cursor() as cursor:
        cursor.execute("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'runs_step'")
        return int(cursor.fetchone()[0])


def test_progress_is_told_by_a_holder_and_not_by_a_lost_one(run: Started) -> None:
    door = run.hold()
    door.open_turn()
    door.progress(1, message="Read 12 of 20 files", done=12, total=20)
    assert run.events()[-1] == "step.progress"
    lapse(run)
    door.progress(1, message="Read 13 of 20 files", done=13, total=20)
    assert run.events().count("step.progress") == 1


def test_what_comes_next_is_prepared_while_the_boundary_is_written(run: Started) -> None:
    door = run.hold()
    told: list[tuple[int, str, str | None]] = []
    door.prepare = lambda journal, step: told.append((step.seq, step.status, journal.steps[0].result))
    ask(door, call(), opening=Opening(2, key="k", stamp=_stamp(run)), result="I pay.")
    assert told[-1] == (2, "started", "I pay.")
    door.close(Closing(2, "started", cause="server", message="503", not_done=False, delay=5))
    assert len(told) == 2  # The turn and its call; nothing was opened since.


def test_what_was_expected_and_did_not_come_is_left_out_of_the_journal(run: Started) -> None:
    door = run.hold()
    stamp = _stamp(run)
    run.do(commands.comment, text="Is it going well?")
    ask(door, call())
    assert door.behind
    with scope(run.tenant):
        stamps.bump()
    with pytest.raises(StaleStamp):
        door.open(Opening(2, key="k", stamp=stamp))
    assert (door.journal.step(2).status, door.journal.step(2).attempts) == ("planned", ())
    assert (door.journal.last_event, door.journal.next_seq) == (run.journal.last_event, run.journal.next_seq)
