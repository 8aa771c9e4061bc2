"""Hidden characters: each is marked in its place, and ordinary writing stays ordinary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.display import Piece, beginning, lookalikes, shown, without_hidden


@pytest.mark.parametrize(
    ("char", "code", "name"),
    [
        ("\u202e", "U+202E", "right-to-left override"),
        ("\u2066", "U+2066", "left-to-right isolate"),
        ("\u200b", "U+200B", "zero-width space"),
        ("\ufeff", "U+FEFF", "byte order mark"),
        ("\u00ad", "U+00AD", "soft hyphen"),
        ("\u2060", "U+2060", "word joiner"),
        ("\u200e", "U+200E", "left-to-right mark"),
        ("\r", "U+000D", "control character"),
        ("\x1b", "U+001B", "control character"),
        ("\x7f", "U+007F", "control character"),
        ("\u3164", "U+3164", "hangul filler"),
        ("\u2028", "U+2028", "line separator"),
        ("\ue000", "U+E000", "unassigned or private character"),
        ("\U000e0041", "U+E0041", "tag latin capital letter a"),
        ("\U000e0100", "U+E0100", "variation selector-17"),
        ("\u200d", "U+200D", "zero width joiner"),
        ("\u200c", "U+200C", "zero width non-joiner"),
        ("\ufe0f", "U+FE0F", "variation selector-16"),
    ],
)
def test_a_hidden_character_is_a_piece_of_its_own(char: str, code: str, name: str) -> None:
    cut = shown(f"ab{char}cd")
    assert str(cut) == f"ab[{code}]cd"
    assert cut.hidden == 1
    assert cut.hidden_names == [name]


@pytest.mark.parametrize(
    "text",
    ["", "plain", "two\nlines\tand a tab", "שלום עולם", "مرحبا بالعالم", "می‌خواهم", "क्‍ष", "你好，世界", "Grüße, naïve",
     "👩‍👩‍👧‍👦", "❤️", "1️⃣", "🏳️‍🌈", "👍🏽", "e\u0301", "日本語　テスト", "a b"],
)  # fmt: skip
def test_ordinary_writing_has_nothing_hidden(text: str) -> None:
    assert shown(text).hidden == 0
    assert str(shown(text)) == text


@pytest.mark.parametrize("text", ["4\ufe0f2", "a\u200d", "\u200db", "\ufe0f"])
def test_joiners_out_of_place_are_marked(text: str) -> None:
    assert shown(text).hidden == 1


def original(piece: Piece) -> str:
    """The text a piece was cut from."""
    return chr(int(piece.hidden.replace("U+", "0x"), 0)) if piece.hidden else piece.text


@given(st.text())
def test_nothing_is_lost(text: str) -> None:
    cut = shown(text)
    assert "".join(original(p) for p in cut.pieces) == text
    assert shown(without_hidden(text)).hidden <= cut.hidden


@given(st.text(), st.integers(1, 50))
def test_a_beginning_is_a_beginning_and_says_so(text: str, limit: int) -> None:
    cut = beginning(text, limit)
    whole = "".join(original(p) for p in cut.pieces)
    if len(text) <= limit:
        assert whole == text
    else:
        assert whole[-1] == "…"
        assert text.startswith(whole[:-1])
        assert 0 < len(whole[:-1]) <= limit
    whole.encode()


@pytest.mark.parametrize(
    ("text", "limit", "wanted"), [("e\u0301x", 1, "e"), ("👩‍👧x", 2, "👩"), ("abc", 2, "ab"), ("👍🏽", 1, "👍")]
)
def test_a_beginning_keeps_what_reads_as_one_character(text: str, limit: int, wanted: str) -> None:
    assert str(beginning(text, limit)).replace("[U+200D]", "").startswith(wanted)


def test_a_beginning_does_not_end_within_an_accent() -> None:
    assert str(beginning("abce\u0301", 4)) == "abc…"


@pytest.mark.parametrize(
    ("text", "words"), [("pаypal", ["pаypal"]), ("paypal", []), ("Москва and Paris", []), ("αbc", ["αbc"])]
)
def test_words_of_mixed_scripts_are_named(text: str, words: list[str]) -> None:
    assert lookalikes(text) == words
