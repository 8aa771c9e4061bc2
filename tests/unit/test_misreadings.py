"""A condition that does not parse: the place and the remedy in plain words, never the reader's own tokens."""

import cel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals import conditions, misreadings


@pytest.mark.parametrize(
    ("source", "place", "why"),
    [
        ("args.amount >", "it ends too early (line 1, column 14, after “args.amount >”)", "has to follow"),
        ("args.amount > 12.", "it ends too early (line 1, column 18, after “args.amount > 12.”)", "has to follow"),
        ("(args.amount > 5", "it ends too early (line 1, column 17, after “(args.amount > 5”)", "A ) is missing."),
        ("args.amount = 500", "at “= 500” (line 1, column 13)", "Write == for “equals”."),
        ("args.amount => 5", "at “=> 5” (line 1, column 13)", "Write >= for “at least”."),
        ("args.amount =< 5", "at “=< 5” (line 1, column 13)", "Write <= for “at most”."),
        ("args.amount ≥ 5", "at “≥ 5” (line 1, column 13)", "Write >= for “at least”."),
        ("args.x <> 'a'", "(line 1, column 9)", "Write != for “is not”."),
        ("args.a > 5 OR true", "at “OR true” (line 1, column 12)", "Write || for “or”."),
        ("args.a > 5 &&\n  args.b == 'EUR", "at “'EUR” (line 2, column 13)", "opened here and not closed"),
        ("not args.x", "(line 1, column 5)", "Write ! for “not”"),
        ("args.x == “EUR”", "(line 1, column 11)", "Write plain quotation marks"),
        ("args.amount > 1,000", "at “,000” (line 1, column 16)", "Write a number without separators: 1000."),
        ("args.amount > 5)", "at “)” (line 1, column 16)", "This bracket closes nothing."),
        ("args.amount > 5 EUR", "at “EUR” (line 1, column 17)", "This is not expected here."),
        ("has(x)", "at “x)” (line 1, column 5)", "such as has(args.note)"),
    ],
)
def test_it_says_where_it_stopped_and_what_to_write(source: str, place: str, why: str) -> None:
    with pytest.raises(conditions.BadCondition) as refused:
        conditions.check(source)
    said = str(refused.value)
    assert said.startswith("The condition cannot be read")
    assert place in said
    assert why in said
    for token in ("NUM_", "IDENTIFIER", "EOF", "expecting", "token", "ERROR"):
        assert token not in said


@given(st.text("args.amount=<>&|'\"()[] 12,€\n", max_size=40))
def test_whatever_was_written_has_its_sentence(source: str) -> None:
    if fault := found_wrong(source):
        assert misreadings.told(source, fault).startswith("The condition cannot be read")


def found_wrong(source: str) -> str:
    try:
        cel.compile(source)
    except ValueError as error:
        return str(error)
    return ""
