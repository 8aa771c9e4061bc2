"""The usual boundary as one statement: it leaves what the function leaves, and nothing where anything is otherwise."""

from collections.abc import Callable
from decimal import Decimal
from uuid import uuid4

import pytest

from runs import boundary, commands, onward, standing, sweeping
from runs.entries import Change, Closing, Opening, Planned, Stored, Usage
from runs.journal import Holder, LostLease
from tenants import stamps
from tenants.models import Tenant
from tenants.scope import scope
from tests.cast.journal import Started, begin, call, lapse
from tests.cast.journal_rows import BY_KEY, rows, ways

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

KEY = "a key"
ASKED = Closing(1, "completed", result="asked", note="It asks.")
USED = ASKED._replace(usage=Usage(100, 7, Decimal("0.0042")))
USED_WITHOUT_PRICE = ASKED._replace(usage=Usage(100, 7))
CALL = call(rationale="Because.", message="Pay “1” — 付款")
TURN = Planned("model_turn")


def _nothing() -> None:
    """What is done meanwhile here."""


def _stamp(run: Started) -> int:
    with scope(run.tenant):
        return stamps.read()


def _go_on(door: Holder, change: Change) -> float | None:
    usual = onward.usual(door.journal, change)
    return onward.write(door._who, door.journal, usual, _nothing) if usual else None


def _by_function(door: Holder, change: Change) -> float | None:
    return boundary.write(boundary.values(door._who, door.journal, change), _nothing).at


@pytest.mark.parametrize("closing", [ASKED, USED, USED_WITHOUT_PRICE])
@pytest.mark.parametrize("stamped", [False, True])
def test_a_turn_with_its_call_leaves_what_the_function_leaves(
    clerk: Tenant, closing: Closing, *, stamped: bool
) -> None:
    left = []
    for way in (_go_on, _by_function):
        run = begin(clerk)
        door = run.hold()
        door.open_turn(message="It thinks.")
        opening = Opening(2, key=KEY, stamp=_stamp(run) if stamped else None, message="Pays.")
        assert way(door, Change(closing, [CALL], opening))
        left.append(rows(run))
    assert left[0] == left[1]
    assert [row[1] for row in left[0][2:]] == [
        "step.planned", "step.started", "step.completed", "step.planned", "step.started"
    ]  # fmt: skip


def test_a_call_with_the_next_turn_leaves_what_the_function_leaves(clerk: Tenant) -> None:
    left = []
    for way in (_go_on, _by_function):
        run = begin(clerk)
        door = run.hold()
        door.open_turn()
        door.close_turn_and_open(USED, plans=[CALL], opening=Opening(2, key=KEY, stamp=_stamp(run)))
        assert way(door, Change(Closing(2, "completed", result='{"paid": 1.10}'), [TURN], Opening(3)))
        left.append(rows(run))
    assert left[0] == left[1]
    assert run.journal.step(2).result == '{"paid": 1.10}'


@pytest.mark.parametrize("looked", [False, True])
@pytest.mark.parametrize("closing", [ASKED, USED])
def test_what_was_foreseen_is_what_is_recorded(run: Started, door: Holder, closing: Closing, *, looked: bool) -> None:
    ahead = standing.ahead(door.journal, closing, [CALL]) if looked else None
    door.close_turn_and_open(closing, plans=[CALL], opening=Opening(2, key=KEY), ahead=ahead)
    _as_recorded(run, door)
    paid = Closing(2, "completed", result='{"paid": 1.10}')
    door.close_and_open(paid, "model_turn", ahead=standing.ahead(door.journal, paid) if looked else None)
    _as_recorded(run, door)


def _as_recorded(run: Started, door: Holder) -> None:
    recorded = run.journal
    assert list(door.journal.steps) == list(recorded.steps)
    assert (door.journal.last_event, door.journal.next_seq) == (recorded.last_event, recorded.next_seq)


def _paused(run: Started) -> None:
    run.do(commands.pause)


def _cancelled(run: Started) -> None:
    run.do(commands.cancel)


def _told_of(run: Started) -> None:
    run.do(commands.comment, text="I am watching.")


def _lapsed(run: Started) -> None:
    lapse(run)


def _taken_over(run: Started) -> None:
    lapse(run)
    sweeping.leases(10)
    run.hold("worker:2")


def _ruled_anew(run: Started) -> None:
    with scope(run.tenant):
        stamps.bump()


OTHERWISE = [_paused, _cancelled, _told_of, _lapsed, _taken_over, _ruled_anew]


@pytest.fixture
def door(run: Started) -> Holder:
    held = run.hold()
    held.open_turn()
    return held


@pytest.mark.parametrize("otherwise", OTHERWISE)
def test_where_anything_is_otherwise_nothing_is_written(
    run: Started, door: Holder, otherwise: Callable[[Started], None]
) -> None:
    opening = Opening(2, key=KEY, stamp=_stamp(run))
    otherwise(run)
    before = rows(run)
    assert _go_on(door, Change(ASKED, [CALL], opening)) is None
    assert rows(run) == before


def test_a_step_whose_attempt_is_closed_already_is_left_as_it_is(run: Started, door: Holder) -> None:
    stale = door.journal
    door.close(ASKED)
    door.journal = stale._replace(last_event=door.journal.last_event)
    before = rows(run)
    assert _go_on(door, Change(ASKED, [CALL], Opening(2, key=KEY))) is None
    assert rows(run) == before


def test_a_holder_goes_on_after_others_have_told_of_its_run(run: Started, door: Holder) -> None:
    _told_of(run)
    opened = door.close_turn_and_open(ASKED, plans=[CALL], opening=Opening(2, key=KEY, stamp=_stamp(run)))
    assert opened is not None
    assert (opened.status, door.behind) == ("started", True)
    assert run.events()[-4:] == ["run.commented", "step.completed", "step.planned", "step.started"]
    door.refresh()
    assert _go_on(door, Change(Closing(2, "completed", result="paid"), [TURN], Opening(3)))


def test_a_holder_that_lost_its_run_is_told_so(run: Started, door: Holder) -> None:
    _taken_over(run)
    with pytest.raises(LostLease):
        door.close_turn_and_open(ASKED, plans=[CALL], opening=Opening(2, key=KEY))


@pytest.mark.parametrize(
    "change",
    [
        Change(Closing(1, "failed", result="x"), [CALL], Opening(2)),
        Change(Closing(1, "started", cause="server", delay=5), [CALL], Opening(2)),
        Change(ASKED._replace(cause="server"), [CALL], Opening(2)),
        Change(ASKED._replace(result=Stored("the beginning", uuid4())), [CALL], Opening(2)),
        Change(ASKED, [call(declined="invalid", result="There is no such tool.")], Opening(2)),
        Change(ASKED, [CALL, CALL], Opening(2)),
        Change(ASKED, [CALL], Opening(2, kind="evidence")),
        Change(ASKED, [CALL], Opening(1)),
        Change(ASKED, [CALL]),
        Change(None, [CALL], Opening(2)),
    ],
)
def test_what_is_not_the_usual_boundary_is_left_to_the_function(run: Started, door: Holder, change: Change) -> None:
    before = rows(run)
    assert _go_on(door, change) is None
    assert rows(run) == before


def test_a_step_that_was_tried_before_is_left_to_the_function(run: Started, door: Holder) -> None:
    door.close(Closing(1, "started", cause="server", message="503", not_done=False, delay=0))
    door.open(Opening(1))
    before = rows(run)
    assert _go_on(door, Change(ASKED, [CALL], Opening(2))) is None
    assert rows(run) == before


@pytest.mark.parametrize("heard", [False, True])
def test_rows_are_found_by_their_keys_however_few_there_were_when_the_plan_was_made(run: Started, heard: bool) -> None:
    assert ways(run, onward._query(said=True, stamped=True, used=True, heard=heard)) == BY_KEY
