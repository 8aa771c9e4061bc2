"""Coverage: the hours of the days to come with too few people, by the same guard that answers at the time."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.calendars import Calendar, deadline, is_working, office
from approvals.coverage import Absence, Plan, gaps, stretches
from approvals.escalations import Level, Levels
from approvals.requirements import REVIEWERS, Demand, Place, Requirement
from approvals.reviewers import Asking
from approvals.rosters import OnCall, Roster, Someone
from approvals.rotas import Rota, begins, on_call

START = datetime(2026, 3, 23, tzinfo=UTC)
END = START + timedelta(days=14)
A, B, C, D = (UUID(int=number) for number in range(1, 5))
ALWAYS = Calendar("UTC", (((0, 1440),),) * 7)
NIGHTS = UUID(int=99)


def people(*reviewers: UUID, groups: dict[UUID, str] | None = None) -> dict[UUID, Someone]:
    held = groups or {}
    return {
        key: Someone(key, key, f"Person {key.int}", frozenset({"reviewer"}), frozenset(filter(None, [held.get(key)])))
        for key in reviewers
    }


def plan(
    approvals: int,
    *places: Place,
    who: dict[UUID, Someone],
    calendar: Calendar = ALWAYS,
    absences: tuple[Absence, ...] = (),
    rota: Rota | None = None,
    working_time: bool = False,
) -> Plan:
    need = Requirement("require_approval", (Demand(approvals, places),))
    levels = Levels((Level(60, rotations=frozenset({str(NIGHTS)})),)) if rota else Levels()
    turns = {str(NIGHTS): OnCall(rota, on_call(rota, START, set(who)), frozenset(rota.members))} if rota else {}
    roster = Roster(people=who, now=START, rotations=turns)
    return Plan(roster, Asking(need, 0, levels), calendar, absences, working_time)


def at(day: int, hour: int = 0) -> datetime:
    return START + timedelta(days=day, hours=hour)


def test_enough_people_all_day_are_one_stretch() -> None:
    found = stretches(plan(2, who=people(A, B, C)), START, END)
    assert [(each.starts, each.ends, each.members, each.short, each.tight) for each in found] == [
        (START, END, (A, B, C), 0, False)
    ]


def test_two_of_two_are_enough_and_none_to_spare() -> None:
    (found,) = stretches(plan(2, who=people(A, B)), START, END)
    assert (found.short, found.tight) == (0, True)


def test_one_who_is_away_leaves_too_few() -> None:
    wanted = plan(2, REVIEWERS, who=people(A, B), absences=(Absence(A, B, at(2), at(4)),))
    found = stretches(wanted, START, END)
    assert [(each.starts, each.ends, each.members, each.short) for each in found] == [
        (START, at(2), (A, B), 0),
        (at(2), at(4), (B,), 1),
        (at(4), END, (A, B), 0),
    ]


def test_a_stand_in_from_outside_fills_the_place_and_one_from_inside_does_not() -> None:
    team = Place("group", "team")
    who = people(A, B, C, groups={A: "team", B: "team"})
    outside = plan(2, team, who=who, absences=(Absence(A, C, at(2), at(4)),))
    assert [each.short for each in stretches(outside, START, END)] == [0, 0, 0]
    inside = plan(2, team, who=who, absences=(Absence(A, B, at(2), at(4)),))
    assert [each.short for each in stretches(inside, START, END)] == [0, 1, 0]


def test_a_stand_in_who_is_away_passes_the_place_on() -> None:
    team = Place("group", "team")
    who = people(A, B, C, groups={A: "team"})
    absences = (Absence(A, B, at(1), at(5)), Absence(B, C, at(2), at(3)))
    found = stretches(plan(1, team, who=who, absences=absences), START, END)
    assert [each.members for each in found] == [(A,), (B,), (C,), (B,), (A,)]
    assert not any(each.short for each in found)


def test_nights_are_gaps_and_expire_where_the_clock_does_not_wait() -> None:
    wanted = plan(1, who=people(A), calendar=office("UTC"))
    found = stretches(wanted, START, START + timedelta(days=7))
    holes = gaps(wanted, found, timeout=20 * 3600)
    assert [(hole.starts, hole.ends, hole.expires) for hole in holes] == [
        (at(0), at(0, 9), False),
        (at(0, 17), at(1, 9), False),
        (at(1, 17), at(2, 9), False),
        (at(2, 17), at(3, 9), False),
        (at(3, 17), at(4, 9), False),
        (at(4, 17), at(7), True),
    ]


def test_in_working_time_only_the_working_hours_count() -> None:
    wanted = plan(1, who=people(A), calendar=office("UTC"), working_time=True, absences=(Absence(A, B, at(1), at(3)),))
    found = stretches(wanted, START, START + timedelta(days=7))
    assert sum((each.length for each in found), timedelta()) == timedelta(hours=40)
    (hole,) = gaps(wanted, found, timeout=16 * 3600)
    assert (hole.starts, hole.ends, hole.length, hole.expires) == (at(1, 9), at(2, 17), timedelta(hours=16), True)
    assert [hole.expires for hole in gaps(wanted, found, timeout=16 * 3600 + 1)] == [False]


def test_a_request_made_late_in_a_gap_outlasts_it() -> None:
    wanted = plan(1, who=people(A), calendar=office("UTC"))
    found = stretches(wanted, START, START + timedelta(days=7))
    holes = gaps(wanted, found, timeout=15 * 3600)
    assert [hole.last for hole in holes[:3]] == [None, at(0, 18), at(1, 18)]
    assert holes[-1].last == at(6, 9), "fifteen hours before these days end"


def test_the_latest_moment_in_vain_is_counted_by_the_clock_that_a_request_has() -> None:
    wanted = plan(1, who=people(A), calendar=office("UTC"), working_time=True, absences=(Absence(A, B, at(1), at(3)),))
    found = stretches(wanted, START, START + timedelta(days=7))
    last = [gaps(wanted, found, timeout=hours * 3600)[0].last for hours in (8, 10, 16)]
    assert last == [at(2, 9), at(1, 15), at(1, 9)]
    assert {deadline(at(2, 9), 8 * 3600, office("UTC")), deadline(at(1, 15), 10 * 3600, office("UTC"))} == {at(2, 17)}


def test_who_is_on_call_is_there_at_night_for_their_turn() -> None:
    rota = Rota("Nights", "Europe/Oslo", 7, time(9), date(2026, 3, 16), (C, D))
    team = Place("group", "team")
    who = people(A, C, groups={A: "team"})
    found = stretches(plan(1, team, who=who, calendar=office("Europe/Oslo"), rota=rota), START, END)
    assert not any(each.short for each in found)
    assert [each.members for each in found[:3]] == [(C,), (A, C), (C,)]
    turned = [each.starts for each in found if each.starts == datetime(2026, 3, 30, 7, tzinfo=UTC)]
    assert len(turned) == 1, "D is no reviewer, so C goes on; the hand-over follows the clock change"


def test_nobody_is_there_at_night_before_the_rotation_begins() -> None:
    rota = Rota("Nights", "Europe/Oslo", 7, time(9), (START + timedelta(days=5)).date(), (C, D))
    who = people(A, C, groups={A: "team"})
    found = stretches(plan(1, Place("group", "team"), who=who, rota=rota), START, END)
    assert [each.members for each in found[:2]] == [(A,), (A, C)]
    assert found[0].ends == begins(rota)


def test_people_who_come_one_after_the_other_may_still_be_enough() -> None:
    absences = (Absence(A, C, at(0), at(2)), Absence(B, C, at(2), at(4)))
    wanted = plan(2, Place("member", str(A)), Place("member", str(B)), who=people(A, B), absences=absences)
    (hole,) = gaps(wanted, stretches(wanted, START, END), timeout=3600)
    assert (hole.starts, hole.ends, hole.expires) == (at(0), at(4), False)


def test_nobody_at_all_is_one_gap() -> None:
    wanted = plan(1, Place("group", "nobody"), who=people(A))
    (hole,) = gaps(wanted, stretches(wanted, START, END), timeout=3600)
    assert (hole.starts, hole.ends, hole.expires, hole.stretches[0].members) == (START, END, True, ())


spells = st.lists(
    st.builds(
        lambda who, hour, length: Absence(
            who, D, START + timedelta(hours=hour), START + timedelta(hours=hour + length)
        ),
        st.sampled_from([A, B, C]),
        st.integers(-50, 360),
        st.integers(1, 200),
    ),
    max_size=4,
).map(tuple)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["Europe/Oslo", "Australia/Lord_Howe", "America/New_York", "Asia/Tokyo"]),
    st.integers(1, 3),
    spells,
    st.lists(st.integers(0, 14 * 24 * 60 - 1), min_size=1, max_size=20),
)
def test_at_every_moment_it_is_what_counting_those_who_are_there_gives(
    zone: str, approvals: int, absences: tuple[Absence, ...], minutes: list[int]
) -> None:
    # D is no reviewer, so nobody takes a place over and counting heads is enough.
    wanted = plan(approvals, who=people(A, B, C), calendar=office(zone), absences=absences)
    found = stretches(wanted, START, END)
    assert (found[0].starts, found[-1].ends) == (START, END)
    assert all(one.ends == two.starts for one, two in pairwise(found))
    for minute in minutes:
        moment = START + timedelta(minutes=minute)
        away = {each.absent for each in absences if each.starts <= moment < each.ends}
        there = {A, B, C} - away if is_working(wanted.calendar, moment) else set()
        (each,) = [each for each in found if each.starts <= moment < each.ends]
        assert set(each.members) == there
        assert each.short == max(approvals - len(there), 0)
        assert each.tight == (0 < len(there) <= approvals)


@pytest.mark.parametrize("seconds", [1, 3600, 12 * 3600, 100 * 3600])
def test_gaps_are_the_short_stretches_and_a_longer_time_expires_in_fewer(seconds: int) -> None:
    wanted = plan(2, who=people(A, B), calendar=office("Europe/Oslo"), absences=(Absence(A, D, at(3), at(9)),))
    found = stretches(wanted, START, END)
    holes = gaps(wanted, found, timeout=seconds)
    assert [each for hole in holes for each in hole.stretches] == [each for each in found if each.short]
    assert all(deadline(hole.last, seconds) == hole.ends for hole in holes if hole.last)
    fewer = gaps(wanted, found, timeout=seconds * 2)
    assert sum(hole.expires for hole in fewer) <= sum(hole.expires for hole in holes)


def test_whoever_started_the_run_is_not_known_so_none_to_spare_is_said() -> None:
    wanted = plan(1, who=people(A, B))
    assert stretches(wanted, START, END)[0].tight is False
    alone = replace(wanted, people=replace(wanted.people, people=people(A)))
    assert stretches(alone, START, END)[0].tight is True


@given(st.lists(st.sampled_from(["", "x", "y"]), max_size=6), st.integers(1, 3), st.integers(0, 2), st.integers(0, 2))
@settings(max_examples=200, deadline=None)
def test_none_can_be_spared_where_without_one_of_them_it_would_be_too_few(
    held: list[str], approvals: int, of_x: int, of_y: int
) -> None:
    """Whoever it is: those who fill the same places are looked at once."""
    keys = [UUID(int=number) for number in range(1, len(held) + 1)]
    groups = dict(zip(keys, held, strict=True))
    places = (REVIEWERS, Place("group", "x", of_x), Place("group", "y", of_y))

    def short(*left: UUID) -> int:
        (found,) = stretches(plan(approvals, *places, who=people(*left, groups=groups)), START, END)
        return found.short

    (found,) = stretches(plan(approvals, *places, who=people(*keys, groups=groups)), START, END)
    assert found.tight == any(short(*(key for key in keys if key is not one)) for one in keys)
