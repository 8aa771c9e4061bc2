"""The demo's cases: enough of them, in both languages, and nasty where they say so."""

import json
import re
import unicodedata

import pytest

from examples.refund_desk import cases, orders

ALL = cases.load().cases
TOOLS = {"read_mail", "lookup_order", "returns_rule", "refund", "send_email", "create_label"}
PLACE = re.compile(r"\$\{([^}]*)\}")


def texts(case: cases.Case) -> str:
    return "\n".join([case.subject, case.message, *(call.text() for turn in case.turns for call in turn.calls)])


def test_cases_are_numbered_from_one_without_a_gap() -> None:
    assert [case.id for case in ALL] == [str(number) for number in range(1, len(ALL) + 1)]
    assert len(ALL) >= 24


def test_there_are_cases_in_english_and_in_chinese() -> None:
    chinese = [case for case in ALL if case.language == "zh"]
    assert len(chinese) >= 6
    assert len(ALL) - len(chinese) >= 12
    for case in chinese:
        assert any("\u4e00" <= letter <= "\u9fff" for letter in case.message)


@pytest.mark.parametrize(
    "trait",
    [
        re.compile("approve it yourself"),
        re.compile("有权自行审批"),
        re.compile("\u202e"),
        re.compile("\u200b"),
        re.compile(r"(?<!\d)\d{20}\.\d\d"),
        re.compile("<script"),
        re.compile("\U0001f621"),
    ],
    ids=lambda trait: ascii(trait.pattern),
)
def test_some_case_carries_each_nasty_thing(trait: re.Pattern[str]) -> None:
    assert any(trait.search(texts(case)) for case in ALL)


def test_some_case_names_an_order_that_does_not_exist() -> None:
    known = {order["order_id"] for order in orders.shop()["orders"]}
    assert {"A-9955", "G-2100"} <= {case.order_id for case in ALL} - known


def test_the_file_itself_shows_every_hidden_character_as_an_escape() -> None:
    written = cases.SOURCE.read_text(encoding="utf-8")
    hidden = {letter for letter in written if unicodedata.category(letter) == "Cf"}
    assert hidden <= {"\u200d"}


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_every_scripted_turn_says_something_that_can_be_read(case: cases.Case) -> None:
    for turn in cases.turns(case):
        assert turn.text or turn.calls
        for call in turn.calls:
            if call.raw is None:
                assert isinstance(json.loads(call.text()), dict)
                assert call.tool in TOOLS or "made-up tool" in case.nasty


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_every_call_that_changes_something_gives_its_reason(case: cases.Case) -> None:
    for turn in case.turns:
        for call in turn.calls:
            if call.tool not in {"read_mail", "lookup_order", "returns_rule"} and call.raw is None:
                assert call.rationale


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_every_placeholder_names_a_tool_and_an_alternative(case: cases.Case) -> None:
    for turn in cases.turns(case):
        for place in PLACE.findall(turn.text + "".join(call.text() for call in turn.calls)):
            name, _, otherwise = place.partition("|")
            assert name.partition(".")[0] in TOOLS
            assert "|" in place, otherwise


def test_the_last_closing_turn_always_holds_and_ends_the_run() -> None:
    for turns in cases.load().closing.values():
        assert turns[-1].after == {}
        assert all(turn.text and not turn.calls for turn in turns)


def test_case_one_asks_for_one_refund_over_the_limit_and_one_mail_after_it() -> None:
    one = ALL[0]
    calls = [(call.tool, turn.after) for turn in one.turns for call in turn.calls]
    assert calls[:3] == [("read_mail", {}), ("lookup_order", {}), ("returns_rule", {})]
    assert calls[3] == ("refund", {})
    assert [tool for tool, _ in calls[4:]] == ["send_email", "send_email"]
    assert {after["refund"] for _, after in calls[4:]} == {"done", "undone"}
