"""Who is on call: turns, hand-overs over clock changes, exceptions, and people who have left."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.rotas import Override, Rota, begins, on_call, turns

A, B, C, D = (UUID(int=number) for number in range(1, 5))
EVERYBODY = frozenset({A, B, C, D})
OSLO = "Europe/Oslo"
WEEKLY = Rota("Payments", OSLO, 7, time(9), date(2026, 11, 30), (A, B, C))
DAILY = replace(WEEKLY, days=1)
ZONES = ("Europe/Oslo", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "America/Havana", "Asia/Kolkata")


def at(text: str, zone: str = OSLO) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


@pytest.mark.parametrize(
    ("rota", "now", "wanted"),
    [
        (WEEKLY, "2026-11-30T09:00", A),
        (WEEKLY, "2026-12-07T08:59", A),
        (WEEKLY, "2026-12-07T09:00", B),
        (WEEKLY, "2026-12-21T09:00", A),
        (WEEKLY, "2027-11-29T09:00", B),
        (DAILY, "2026-11-30T09:00", A),
        (DAILY, "2026-12-01T08:59", A),
        (DAILY, "2026-12-01T09:00", B),
        (DAILY, "2026-12-03T12:00", A),
    ],
)
def test_the_order_goes_round_from_the_first_day(rota: Rota, now: str, wanted: UUID) -> None:
    assert on_call(rota, at(now), EVERYBODY).member == wanted


@pytest.mark.parametrize(
    ("rota", "now", "starts"),
    [
        (WEEKLY, "2026-11-30T08:59", "2026-11-23T09:00"),
        (WEEKLY, "2026-11-01T12:00", "2026-10-26T09:00"),
        (DAILY, "2026-11-30T08:59", "2026-11-29T09:00"),
        (DAILY, "2020-01-01T12:00", "2020-01-01T09:00"),
    ],
)
def test_nobody_is_on_call_before_the_first_turn(rota: Rota, now: str, starts: str) -> None:
    turn = on_call(rota, at(now), EVERYBODY)
    assert (turn.member, turn.instead_of, turn.begun) == (None, (), False)
    assert (turn.starts, turn.ends) == (at(starts), begins(rota)) == (at(starts), at("2026-11-30T09:00"))


def test_who_steps_in_before_the_first_turn_counts() -> None:
    rota = replace(WEEKLY, overrides=(Override(D, at("2026-11-28T00:00"), at("2026-11-29T00:00")),))
    found = list(turns(rota, at("2026-11-10T00:00"), at("2026-12-01T00:00"), EVERYBODY))
    assert [(turn.member, turn.begun) for turn in found] == [(None, False), (D, True), (None, False), (A, True)]
    assert (found[0].ends, found[2].ends) == (at("2026-11-28T00:00"), begins(rota))


@pytest.mark.parametrize(
    ("zone", "handover", "day", "length"),
    [
        (OSLO, "09:00", "2026-03-28", 23),
        (OSLO, "09:00", "2026-10-24", 25),
        (OSLO, "02:30", "2026-03-28", 23.5),
        (OSLO, "02:30", "2026-03-29", 23.5),
        (OSLO, "02:30", "2026-10-24", 24),
        (OSLO, "02:30", "2026-10-25", 25),
        ("Australia/Lord_Howe", "09:00", "2026-10-03", 23.5),
        ("America/Havana", "00:00", "2026-11-01", 25),
        ("Asia/Kolkata", "02:30", "2026-03-28", 24),
    ],
)
def test_hands_change_by_the_clock_on_the_wall(zone: str, handover: str, day: str, length: float) -> None:
    rota = Rota("Nights", zone, 1, time.fromisoformat(handover), date(2026, 1, 1), (A, B))
    turn = on_call(rota, at(f"{day}T12:00", zone), EVERYBODY)
    assert (turn.ends - turn.starts) == timedelta(hours=length)


def test_a_day_that_never_was_is_nobodys_turn() -> None:
    rota = Rota("Island", "Pacific/Apia", 1, time(0), date(2011, 12, 29), (A, B, C))
    found = list(turns(rota, at("2011-12-29T00:00", "Pacific/Apia"), at("2012-01-01T00:00", "Pacific/Apia"), EVERYBODY))
    assert [turn.member for turn in found] == [A, C]


def test_an_override_counts_whoevers_turn_it_is_and_the_later_one_wins() -> None:
    rota = replace(
        WEEKLY,
        overrides=(
            Override(D, at("2026-12-01T00:00"), at("2026-12-03T00:00")),
            Override(B, at("2026-12-02T00:00"), at("2026-12-02T12:00")),
        ),
    )
    found = list(turns(rota, at("2026-11-30T09:00"), at("2026-12-07T09:00"), EVERYBODY))
    assert [(turn.member, turn.override) for turn in found] == [
        (A, False),
        (D, True),
        (B, True),
        (D, True),
        (A, False),
    ]
    assert found[1].starts == at("2026-12-01T00:00")


def test_who_has_left_is_passed_over_and_said() -> None:
    turn = on_call(WEEKLY, at("2026-12-01T12:00"), {B, C})
    assert (turn.member, turn.instead_of) == (B, (A,))
    assert on_call(WEEKLY, at("2026-12-01T12:00"), {D}).member is None
    gone = replace(WEEKLY, overrides=(Override(D, at("2026-12-01T00:00"), at("2026-12-03T00:00")),))
    assert on_call(gone, at("2026-12-02T00:00"), {A, B, C}).member == A


overrides = st.lists(
    st.builds(
        lambda who, start, hours: Override(who, start, start + timedelta(hours=hours)),
        st.sampled_from([A, B, C, D]),
        st.datetimes(datetime(2026, 3, 20), datetime(2026, 4, 10)).map(lambda each: each.replace(tzinfo=UTC)),  # noqa: DTZ001
        st.integers(1, 200),
    ),
    max_size=4,
).map(tuple)


@settings(max_examples=100)
@given(
    st.sampled_from(ZONES),
    st.sampled_from([1, 7]),
    st.times().map(lambda each: each.replace(second=0, microsecond=0)),
    st.dates(date(2026, 3, 1), date(2026, 5, 1)),
    st.lists(st.sampled_from([A, B, C]), min_size=1, max_size=4).map(tuple),
    overrides,
    st.sets(st.sampled_from([A, B, C, D])),
)
def test_turns_follow_each_other_without_a_gap_and_agree_with_every_moment_in_them(
    zone: str,
    days: int,
    handover: time,
    first_day: date,
    members: tuple[UUID, ...],
    made: tuple[Override, ...],
    able: set[UUID],
) -> None:
    rota = Rota("Any", zone, days, handover, first_day, members, made)
    start, end = at("2026-03-25T00:00", "UTC"), at("2026-04-08T00:00", "UTC")
    found = list(turns(rota, start, end, able))
    assert found[0].starts <= start < found[0].ends
    assert found[-1].ends >= end
    for before, after in pairwise(found):
        assert before.ends == after.starts < after.ends
        assert before.member != after.member or before.override != after.override or not after.override
    for turn in found:
        for moment in (turn.starts, turn.starts + (turn.ends - turn.starts) / 2, turn.ends - timedelta(microseconds=1)):
            assert on_call(rota, moment, able).member == turn.member
        assert turn.member is None or turn.member in able


@settings(max_examples=100)
@given(
    st.sampled_from(ZONES),
    st.sampled_from([1, 7]),
    st.times().map(lambda each: each.replace(second=0, microsecond=0)),
    st.dates(date(2011, 12, 20), date(2012, 1, 10)) | st.dates(date(2026, 3, 1), date(2026, 11, 30)),
    st.timedeltas(-timedelta(days=30), timedelta(days=30)),
)
def test_somebody_is_on_call_exactly_from_the_first_days_hand_over_on(
    zone: str, days: int, handover: time, first_day: date, away: timedelta
) -> None:
    rota = Rota("Any", zone, days, handover, first_day, (A, B))
    now = begins(rota) + away
    turn = on_call(rota, now, EVERYBODY)
    assert (turn.member is not None) == turn.begun == (now >= begins(rota))
    assert turn.starts <= now < turn.ends
    assert on_call(rota, begins(rota), EVERYBODY).begun


@settings(max_examples=60)
@given(st.sampled_from(ZONES), st.integers(0, 3000), st.integers(0, 23))
def test_with_enough_people_everybody_has_the_same_number_of_turns(zone: str, day: int, hour: int) -> None:
    rota = Rota("Fair", zone, 1, time(hour), date(2020, 1, 1) + timedelta(days=day), (A, B, C))
    begins = datetime.combine(rota.first_day, rota.handover, ZoneInfo(zone))
    found = list(turns(rota, begins, begins + timedelta(days=30, hours=-2), EVERYBODY))
    counts = {member: sum(turn.member == member for turn in found) for member in (A, B, C)}
    assert set(counts.values()) == {10}
