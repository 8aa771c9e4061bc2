"""How moments, lengths, names and text of others are printed."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.template.loader import render_to_string
from django.utils import timezone, translation

from approvals.display import shown
from tenants.templatetags import look

NOON = datetime(2026, 11, 27, 12, 0, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture(autouse=True)
def _noon_in_berlin() -> object:
    with time_machine.travel(NOON, tick=False), timezone.override(BERLIN):
        yield


def test_a_moment_of_today_is_a_clock_time_in_the_readers_zone() -> None:
    assert look.when(NOON) == '<time datetime="2026-11-27T13:00:30+01:00">13:00</time>'
    assert ">13:00:30<" in look.when(NOON, "seconds")


def test_a_moment_of_another_day_says_the_day_and_of_another_year_the_year() -> None:
    assert ">26 Nov 13:00<" in look.when(NOON - timedelta(days=1))
    assert ">27 Nov 2025<" in look.when(NOON - timedelta(days=365), "day")


def test_a_day_is_written_in_the_readers_language() -> None:
    with translation.override("zh-hans"):
        assert ">11 月 26 日<" in look.when(NOON - timedelta(days=1), "day")


def test_no_moment_prints_nothing() -> None:
    assert (look.when(None), look.remaining(None), look.since(None), look.span(None)) == ("", "", "", "")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.04, "0 s"),
        (0.24, "0.2 s"),
        (1.98, "2 s"),
        (2.1, "2.1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (12000, "3 h 20 min"),
        (86400, "1 day"),
        (200000, "2 days"),
    ],
)
def test_a_length_is_said_in_at_most_two_units(seconds: float, said: str) -> None:
    assert look.span(seconds) == said


def test_what_is_due_says_the_time_left_and_then_now() -> None:
    assert look.remaining(NOON + timedelta(minutes=9)) == "9 min"
    assert look.remaining(NOON - timedelta(seconds=1)) == "now"


def test_a_technical_name_may_fold_and_stays_escaped() -> None:
    assert look.fold("message_to<b>") == "message_<wbr>to&lt;b&gt;"


def test_names_stand_as_in_a_sentence() -> None:
    assert look.names([]) == ""
    assert look.names(["Bo Lund"]) == "Bo Lund"
    assert look.names(["Bo Lund", "Ravi Nair", "Mona Rask"]) == "Bo Lund, Ravi Nair and Mona Rask"


def test_hidden_characters_are_marked_where_they_stand() -> None:
    page = render_to_string("inline/text.html", {"text": shown("pay\u202e 12\u200b00\ufeff\u2066")})
    for code in ("U+202E", "U+200B", "U+FEFF", "U+2066"):
        assert f'<span class="hidden-char">{code}<' in page
    assert not set("\u202e\u200b\ufeff\u2066") & set(page)


def test_ordinary_hebrew_arabic_and_chinese_stay_readable() -> None:
    page = render_to_string("inline/text.html", {"text": shown("שלום عالم 退款 👩‍👧")})
    assert "שלום عالم 退款 👩‍👧" in page
    assert "hidden-char" not in page


def test_text_of_others_is_never_markup() -> None:
    page = render_to_string("inline/text.html", {"text": shown('</bdi><script>alert(1)</script><img onerror="x">')})
    assert "<script" not in page
    assert "<img" not in page


def test_words_in_a_row_have_the_comma_of_the_readers_language() -> None:
    assert look.listed(["Bo", "Chen"]) == "Bo, Chen"
    with translation.override("zh-hans"):
        assert look.listed(["李娜", "Sam Okafor"]) == "李娜、Sam Okafor"
