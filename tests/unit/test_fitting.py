"""Conditions held against the tools they name: what fits, what could never be evaluated, what only seems to work."""

from typing import Any

import pytest

from approvals import fitting
from approvals.conditions import BadCondition
from tests.cast.requests import DECIMAL, REFUND

MAIL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"type": "array", "items": {"$ref": "#/$defs/Address"}},
        "subject": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "meta": {"type": "object", "additionalProperties": True},
        "size": {"type": "number"},
        "html": {"type": "boolean"},
        "fee": {"anyOf": [DECIMAL, {"type": "null"}]},
    },
    "$defs": {"Address": {"type": "object", "properties": {"name": {"type": "string"}, "spam": {"type": "integer"}}}},
}
TOOLS = {"refund": REFUND["parameters"], "refund_all": {"type": "object", "properties": {}}, "send_mail": MAIL}


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "TOOLS", [lambda: TOOLS])


@pytest.mark.parametrize(
    ("tool", "condition"),
    [
        ("refund", "args.amount > 1000"),
        ("refund", 'args.amount > 500.5 || args.currency != "EUR"'),
        ("refund", "minor(args.amount) > 50000"),
        ("refund", 'args.order_id.startsWith("A-") && args.count > 1'),
        ("refund", 'risk in ["high", "critical"] && !(args.count == 2)'),
        ("refund", 'labels.team == "north" && args.amount > 1'),
        ("refund", 'initiator.kind == "key" || run.title.contains("trial")'),
        ("refund", "has(args.memo) && args.memo > 1"),
        ("refund", "args.count > 1 ? args.amount > 5 : args.amount > 50"),
        ("send_mail", "args.to.exists(each, each.spam > 3)"),
        ("send_mail", 'args.subject == null || args.subject.contains("(&& ||")'),
        ("send_mail", "args.meta.tries > 3"),
        ("send_mail", "args.fee > 1.5"),
        ("send_mail", "!args.html"),
        ("send_mail", "int(args.size) > 3"),
        ("unheard_of", "args.anything > 1"),
    ],
)
def test_what_fits_is_saved(tool: str, condition: str) -> None:
    fitting.check(condition, [tool])


@pytest.mark.parametrize(
    ("tool", "condition", "said"),
    [
        ("refund", "args.amout > 1000", "has no parameter amout. It has: order_id, amount"),
        ("refund", "args.order_id > 1000", "cannot be evaluated"),
        ("refund", 'args.currency == "EUR" && args.order_id > 1000', "cannot be evaluated"),
        ("refund", '(args.currency == "EUR" || (args.count > 1 && args.note > 2))', "cannot be evaluated"),
        ("refund", "args.amount + 1 > 2", "cannot be evaluated"),
        ("refund", "args.amount", "neither true nor false"),
        ("refund", "args.amount.cents > 1", "no parameter amount.cents"),
        ("refund", 'args.count.startsWith("1")', "cannot be evaluated"),
        ("refund", 'args.amount == "1000"', "can never equal"),
        ("refund", "args.currency != 5", "can never equal"),
        ("send_mail", 'args.to.exists(each, each.spam > "x")', "cannot be evaluated"),
        ("send_mail", "args.to.all(each, each.age > 3)", "does not have"),
        ("send_mail", "!args.size", "cannot be evaluated"),
    ],
)
def test_what_could_never_be_evaluated_is_refused(tool: str, condition: str, said: str) -> None:
    with pytest.raises(BadCondition, match=said):
        fitting.check(condition, [tool])


def test_of_tools_named_by_a_pattern_one_must_fit() -> None:
    fitting.check("args.amount > 1", ["refund*"])
    assert list(fitting.misfits("args.amount > 1", ["*"])) == ["refund_all", "send_mail"]
    with pytest.raises(BadCondition, match="refund_all has no parameter amount"):
        fitting.check("args.amount > 1", ["refund", "refund_all"])
    with pytest.raises(BadCondition, match="has no parameter amuont"):
        fitting.check("args.amuont > 1", ["*"])


def test_a_condition_is_cut_at_its_ands_and_ors_alone() -> None:
    assert fitting.parts('a && (b || !(c && "x && y" == d)) && f(e || g)') == [
        "a",
        "b",
        "c",
        '"x && y" == d',
        "f(e || g)",
    ]
    assert fitting.parts("a ? b && c : d") == ["a ? b && c : d"]
