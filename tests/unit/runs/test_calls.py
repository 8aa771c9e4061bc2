"""A stretch of work in a thread of its own: its calls, one that does not come back in time, and what follows it."""

import sys
from contextvars import ContextVar
from threading import Event, Thread, current_thread, get_ident

import pytest
from django.db import DEFAULT_DB_ALIAS, connections

from runs import calls

MARK: ContextVar[str] = ContextVar("mark", default="unset")
LONG = 30.0


def never() -> None:
    pytest.fail("The call came back in time.")


def test_work_and_its_calls_share_one_thread_which_is_not_the_one_that_waits() -> None:
    seen: list[int] = []

    def work() -> None:
        seen.append(get_ident())
        calls.call(lambda: seen.append(get_ident()), timeout=LONG, late=never)

    calls.watched(work)
    assert seen[0] == seen[1] != get_ident()


def test_what_the_work_raises_is_raised_where_it_is_waited_for() -> None:
    def work() -> None:
        calls.call(lambda: {}["nothing"], timeout=LONG, late=never)

    with pytest.raises(KeyError):
        calls.watched(work)


def test_a_call_that_ends_its_thread_ends_alone() -> None:
    told: list[str] = []

    def work() -> None:
        try:
            calls.call(sys.exit, timeout=LONG, late=never)
        except calls.Quit as error:
            told.append(str(error))

    calls.watched(work)
    assert told == ["The call ended itself with SystemExit."]


def test_what_a_call_sets_for_itself_ends_with_it() -> None:
    left: list[str] = []

    def work() -> None:
        calls.call(lambda: MARK.set("of the call"), timeout=LONG, late=never)
        left.append(MARK.get())

    calls.watched(work)
    assert left == ["unset"]


def test_after_a_call_that_is_given_up_the_work_goes_on_elsewhere_and_its_thread_says_nothing_more() -> None:
    let_go, came_back = Event(), Event()
    said: list[str] = []

    def hang() -> None:
        let_go.wait(LONG)
        came_back.set()

    def work() -> None:
        calls.call(hang, timeout=0.05, late=lambda: said.append("went on"))
        said.append("the thread that was left wrote")

    before = calls.lingering()
    calls.watched(work)
    assert said == ["went on"]
    assert calls.lingering() == before + 1
    let_go.set()
    assert came_back.wait(LONG)
    _until_none_lingers(before)
    assert said == ["went on"]


def test_what_goes_on_may_be_given_up_too() -> None:
    let_go = Event()
    said: list[str] = []

    def hang(late: str) -> None:
        calls.call(lambda: let_go.wait(LONG), timeout=0.05, late=lambda: said.append(late))

    def work() -> None:
        calls.call(lambda: let_go.wait(LONG), timeout=0.05, late=lambda: hang("twice"))

    before = calls.lingering()
    calls.watched(work)
    assert said == ["twice"]
    let_go.set()
    _until_none_lingers(before)


def test_a_call_from_where_nobody_waits_is_refused() -> None:
    with pytest.raises(RuntimeError, match="watched"):
        calls.call(lambda: None, timeout=LONG, late=never)


def _until_none_lingers(before: int) -> None:
    for _ in range(3000):
        if calls.lingering() == before:
            return
        Event().wait(0.01)
    pytest.fail("The thread that was left did not end.")


def test_a_thread_that_was_left_takes_with_it_the_one_that_read_for_it() -> None:
    let_go, readers = Event(), []

    def work() -> None:
        readers.append(calls.apart(current_thread, timeout=LONG))
        calls.call(lambda: let_go.wait(LONG), timeout=0.05, late=lambda: None)

    before = calls.lingering()
    for _ in range(3):
        calls.watched(work)
    let_go.set()
    _until_none_lingers(before)
    for each in readers:
        each.join(5)
    assert not any(each.is_alive() for each in readers)


def test_a_call_that_breaks_the_way_to_the_database_does_not_end_its_thread() -> None:
    done: list[str] = []

    class Broken:
        alias = DEFAULT_DB_ALIAS

        def close(self) -> None:
            raise RuntimeError("It cannot be closed.")

    def work() -> None:
        calls.call(lambda: connections.__setitem__(DEFAULT_DB_ALIAS, Broken()), timeout=LONG, late=never)

    def both() -> None:
        calls.watched(work)
        calls.watched(lambda: done.append("went on"))

    waiting = Thread(target=both, daemon=True)
    waiting.start()
    waiting.join(10)
    assert done == ["went on"]
