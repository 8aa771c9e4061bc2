"""Conditions: what may be written, what they say, and that no doubt is ever a no."""

from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals import conditions
from approvals.conditions import BadCondition, NotEvaluable

VALUES: dict[str, Any] = {
    "args": {"amount": Decimal("1240.00"), "count": 3, "tags": ["a", "b"], "note": "Grüße", "big": 2**62, "none": None},
    "tool": "refund",
    "agent": "refund-desk",
    "risk": "high",
    "labels": {"team": "north"},
    "initiator": {"email": "q@acme.example"},
    "run": {"title": "Case 1"},
    "now": datetime(2026, 11, 29, 22, 0, tzinfo=UTC),
}


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("true", True),
        ("args.amount > 1000", True),
        ("args.amount > 1000.0", True),
        ("args.amount == 1240.00", True),
        ("minor(args.amount) == 124000", True),
        ("minor(args.count) == 300", True),
        ('tool == "refund" && agent.startsWith("refund")', True),
        ("args.tags.exists(t, t == 'b')", True),
        ("args.tags.all(t, args.tags.exists(u, u == t))", True),
        ('labels.team == "south"', False),
        ("has(args.missing)", False),
        ("has(args.missing) && args.missing > 5", False),
        ('args["count"] in [1, 3]', True),
        ('now > timestamp("2026-01-01T00:00:00Z")', True),
        ('args.note.matches("^Gr")', True),
        ("args.big > 5", True),
        ("args.none == null", True),
        ('"a + b // c" == "a + b // c"', True),
        ("type(args.count) == int", True),
    ],
)
def test_a_condition_says_yes_or_no(source: str, wanted: bool) -> None:
    conditions.check(source)
    assert conditions.holds(source, VALUES) is wanted


@pytest.mark.parametrize(
    "source",
    [
        "args.missing > 5",
        "1",
        '"yes"',
        "args.count / 0 == 1",
        "args.note > 5",
        'args.note.matches("(")',
        "null",
        "args",
    ],
)
def test_a_condition_without_an_answer_is_neither(source: str) -> None:
    with pytest.raises(NotEvaluable):
        conditions.holds(source, VALUES)


@pytest.mark.parametrize(
    "amount",
    [Decimal("100.00000000000000001"), Decimal("12345678901234567890.12"), 2**70, 10**400, -(2**63) - 1, 2**64 + 1],
)
def test_a_number_that_would_be_rounded_is_not_judged(amount: Any) -> None:
    with pytest.raises(NotEvaluable, match=r"args\.amount"):
        conditions.holds("args.amount > 100.0", {"args": {"amount": amount}})


@pytest.mark.parametrize(
    ("number", "above"), [(2**63 - 1, True), (-(2**63), False), (0, False), (Decimal("0.1"), False)]
)
def test_numbers_that_fit_are_judged(number: Any, above: bool) -> None:
    assert conditions.holds("args.x > 100.0", {"args": {"x": number}}) is above


@given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**12), max_value=10**12))
def test_amounts_of_everyday_size_are_judged_exactly(amount: Decimal) -> None:
    assert conditions.holds("args.x > 1000.0", {"args": {"x": amount}}) is (amount > 1000)
    assert conditions.holds(f"minor(args.x) == {int(amount * 100)}", {"args": {"x": amount}})


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_no_amount_is_judged_wrongly(amount: Decimal) -> None:
    try:
        said = conditions.holds("args.x > 1000.0", {"args": {"x": amount}})
    except NotEvaluable:
        return
    assert said is (amount > 1000)


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("1 +", "cannot be read"),
        ("secret == 1", "names secret"),
        ("open('x')", "calls open"),
        ("args.x.unheard()", "calls unheard"),
        ("true" + " || true" * 400, "characters"),
        ("!" * 600 + "true", "operators"),
        ("(" * 40 + "true" + ")" * 40, "nested"),
        ("args.t.all(a, args.t.all(b, args.t.all(c, true)))", "3 times"),
        ("args.t.map(a, args.t + args.t + args.t + args.t + args.t + args.t).size() > 1", "adds too often"),
        ("true // comment", "comment"),
        ("r'\\' == tool", "plain quotes"),
        ('"""a""" == tool', "plain quotes"),
    ],
)
def test_what_may_not_be_written_is_refused_with_a_sentence(source: str, word: str) -> None:
    with pytest.raises(BadCondition, match=word):
        conditions.check(source)


def test_a_long_list_is_not_walked_through() -> None:
    with pytest.raises(NotEvaluable, match="101 items"):
        conditions.holds("args.l.all(x, x > 0)", {"args": {"l": [1] * 101}})


@given(st.text(max_size=200))
def test_no_text_breaks_the_fence(source: str) -> None:
    with suppress(NotEvaluable):
        assert conditions.holds(source, VALUES) in (True, False)


@pytest.mark.parametrize(
    ("amount", "wanted"), [("12.5", 1250), ("0", 0), ("-3.99", -399), ("92233720368547758.07", 2**63 - 1)]
)
def test_minor_units_are_exact(amount: str, wanted: int) -> None:
    assert conditions.minor(Decimal(amount)) == wanted


@pytest.mark.parametrize("amount", [Decimal("1.005"), True, "1", None, Decimal("92233720368547758.08")])
def test_minor_refuses_what_it_cannot_say(amount: Any) -> None:
    with pytest.raises(ValueError, match="minor"):
        conditions.minor(amount)


def test_the_paths_a_condition_reads_are_named() -> None:
    assert conditions.paths('args.amount > 5 && run.title == "args.hidden"') == ["args.amount", "run.title"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "args.amount > args.name",
            "It compares or computes what does not go together. args.amount is a number; args.name is a text.",
        ),
        ("args.amount > 'x'", "It compares or computes what does not go together. args.amount is a number."),
        ("size(args.amount) > 1", "The condition failed: Undefined variable or function: 'size'."),
    ],
)
def test_what_does_not_go_together_is_said_in_plain_words(source: str, said: str) -> None:
    with pytest.raises(NotEvaluable) as caught:
        conditions.holds(source, {"args": {"amount": 500, "name": "x"}})
    assert str(caught.value) == said
