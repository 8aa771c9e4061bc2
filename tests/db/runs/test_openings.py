"""The first attempt on an allowed call as one statement: it leaves what the function leaves, or nothing."""

from collections.abc import Callable

import pytest

from approvals.models import Channel
from runs import boundary, commands, openings
from runs.entries import Change, Closing, Opening
from runs.journal import Halted, Holder, LostLease, StaleStamp
from tenants import stamps
from tenants.models import Tenant
from tenants.scope import scope
from tests.cast.journal import Started, begin, call, lapse
from tests.cast.journal_rows import BY_KEY, rows, ways

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

NOTE = "Pays “1” — 付款"


def _nothing() -> None:
    """What is done meanwhile here."""


def _stamp(run: Started) -> int:
    with scope(run.tenant):
        return stamps.read()


def _opening(run: Started) -> Opening:
    return Opening(2, key="a key", stamp=_stamp(run), message=NOTE)


def _asked(run: Started) -> Holder:
    """A run whose model has asked for one call."""
    door = run.hold()
    door.open_turn()
    door.close_turn_and_open(Closing(1, "completed", result="asked"), plans=[call()])
    return door


def _at_once(door: Holder, opening: Opening) -> float | None:
    return openings.write(door._who, door.journal, opening, _nothing)


def _by_function(door: Holder, opening: Opening) -> float | None:
    return boundary.write(boundary.values(door._who, door.journal, Change(opening=opening)), _nothing).at


@pytest.fixture
def door(run: Started) -> Holder:
    """The holder of a run whose call may be made."""
    return _asked(run)


def test_it_leaves_what_the_function_leaves(clerk: Tenant) -> None:
    left = []
    for way in (_at_once, _by_function):
        run = begin(clerk)
        assert way(_asked(run), _opening(run))
        left.append(rows(run))
    assert left[0] == left[1]
    assert [row[1] for row in left[0][2:]][-2:] == ["step.planned", "step.started"]


def test_the_door_knows_what_it_has_opened(run: Started, door: Holder) -> None:
    step = door.open(_opening(run))
    assert (step.status, step.tries, step.attempts[-1].key) == ("started", 1, "a key")
    assert ([*door.journal.steps], door.journal.last_event) == ([*run.journal.steps], run.journal.last_event)
    assert not door.behind


def _paused(run: Started) -> None:
    run.do(commands.pause)


def _moved(run: Started) -> None:
    with scope(run.tenant):
        stamps.bump()


@pytest.mark.parametrize(("otherwise", "error"), [(_paused, Halted), (_moved, StaleStamp), (lapse, LostLease)])
def test_where_anything_is_otherwise_nothing_is_written_and_the_door_says_what(
    run: Started, door: Holder, otherwise: Callable[[Started], None], error: type[Exception]
) -> None:
    opening = _opening(run)
    otherwise(run)
    before = rows(run)
    assert _at_once(door, opening) is None
    with pytest.raises(error):
        door.open(opening)
    assert rows(run) == before


def test_a_holder_opens_after_others_have_told_of_its_run(run: Started, door: Holder) -> None:
    run.do(commands.comment, text="I am watching.")
    assert _at_once(door, _opening(run)) is None
    assert door.open(_opening(run)).status == "started"
    assert door.behind
    assert run.events()[-2:] == ["run.commented", "step.started"]


def test_a_webhook_that_hears_of_the_run_is_told(run: Started, door: Holder) -> None:
    with scope(run.tenant):
        Channel.objects.create(tenant_id=run.tenant, kind="webhook", name="hook", enabled=True)
    assert _at_once(door, _opening(run)) is None
    assert openings.write(door._who, door.journal, _opening(run), _nothing, heard=True)


def test_what_is_not_the_first_attempt_under_a_stamp_is_left_to_the_function(run: Started, door: Holder) -> None:
    usual = _opening(run)
    assert openings.usual(door.journal, usual)
    others = [
        usual._replace(kind="precondition"),
        usual._replace(stamp=None),
        usual._replace(arguments="{}"),
        usual._replace(digest="another"),
        usual._replace(step=1),
        usual._replace(step=3),
    ]
    assert [each for each in others if openings.usual(door.journal, each)] == []
    door.open(usual)
    door.close(Closing(2, "started", cause="server", message="503", not_done=True, delay=0))
    assert not openings.usual(door.journal, usual)
    before = rows(run)
    assert _at_once(door, usual) is None
    assert rows(run) == before


@pytest.mark.parametrize("heard", [False, True])
def test_rows_are_found_by_their_keys_however_few_there_were_when_the_plan_was_made(run: Started, heard: bool) -> None:
    assert ways(run, openings.QUERIES[heard]) == BY_KEY
