"""When a notice leaves: pure, over all zones and both clock changes."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.notifications.timing import DIGESTS, Wish, leaves_at, read

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = (time(22), time(7))
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Chatham")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "wish", "leaves"),
    [
        ("2026-03-02 12:00", Wish(BERLIN), None),
        ("2026-03-02 12:00", Wish(BERLIN, quiet=NIGHT), None),
        ("2026-03-02 21:30", Wish(BERLIN, quiet=NIGHT), "2026-03-03 06:00"),
        ("2026-03-02 05:59", Wish(BERLIN, quiet=NIGHT), "2026-03-02 06:00"),
        ("2026-03-02 06:00", Wish(BERLIN, quiet=NIGHT), None),
        ("2026-03-02 12:20", Wish(BERLIN, digest="hourly"), "2026-03-02 13:00"),
        ("2026-03-02 12:20", Wish(BERLIN, digest="daily"), "2026-03-03 07:00"),
        ("2026-03-02 06:20", Wish(BERLIN, digest="daily"), "2026-03-02 07:00"),
        ("2026-03-02 20:20", Wish(BERLIN, digest="hourly", quiet=NIGHT), "2026-03-03 06:00"),
        ("2026-03-02 12:20", Wish(ZoneInfo("Asia/Kolkata"), digest="hourly"), "2026-03-02 12:30"),
        # The night of 28 March has no 2:30 in Berlin, that of 24 October has it twice.
        ("2026-03-28 23:00", Wish(BERLIN, quiet=(time(23), time(2, 30))), "2026-03-29 01:30"),
        ("2026-10-24 23:00", Wish(BERLIN, quiet=(time(23), time(2, 30))), "2026-10-25 00:30"),
        ("2026-03-28 12:00", Wish(BERLIN, digest="daily"), "2026-03-29 06:00"),
        ("2026-10-24 12:00", Wish(BERLIN, digest="daily"), "2026-10-25 07:00"),
    ],
)
def test_a_notice_leaves(now: str, wish: Wish, leaves: str | None) -> None:
    assert leaves_at(at(now), wish) == (at(leaves) if leaves else None)


@given(
    seconds=st.integers(0, 3 * 365 * 86400),
    zone=st.sampled_from(ZONES),
    digest=st.sampled_from(DIGESTS),
    quiet=st.one_of(st.none(), st.tuples(st.times(), st.times()).filter(lambda pair: pair[0] != pair[1])),
)
def test_it_leaves_later_soon_and_once_the_quiet_hours_are_over(
    seconds: int, zone: str, digest: str, quiet: tuple[time, time] | None
) -> None:
    now = at("2025-01-01 00:00") + timedelta(seconds=seconds)
    wish = Wish(ZoneInfo(zone), digest, quiet)
    leaves = leaves_at(now, wish) or now
    assert now <= leaves <= now + timedelta(hours=51)
    if digest == "none" and leaves > now:
        assert quiet is not None
        # Where clocks jump over the end of the quiet hours, the first moment after it is the end.
        local = leaves.astimezone(wish.zone)
        assert local.time() >= quiet[1]


@pytest.mark.parametrize("quiet", [(None, None), ("22:00:00", "07:00:00")])
def test_a_wish_is_read_as_it_is_kept(quiet: tuple[str | None, str | None]) -> None:
    row = {"digest": "daily", "off": ["asked:email"], "quiet_from": quiet[0], "quiet_until": quiet[1]}
    wish = read(row, "Europe/Berlin")
    assert wish.quiet == (NIGHT if quiet[0] else None)
    assert not wish.hears("asked", "email")
    assert wish.hears("asked", "chat")
