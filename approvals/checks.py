"""Computed facts about a call that are unusual, each from a named check; what *Look at this first* shows."""

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from statistics import median
from typing import Any

from approvals.display import lookalikes, shown
from approvals.models import ApprovalRequest
from tenants import exact_json

ENOUGH = 5
UNUSUAL = 0.9


def flags(arguments: str, request: ApprovalRequest) -> list[dict[str, Any]]:
    """The unusual facts about these bound arguments, the weightiest first.

    Each is `{"code": hidden|lookalike|unusual, "field": name, …}`: `names` of hidden characters, `words` that mix
    scripts, or `larger_than` so many `of` the last calls whose `median` is given as text; and at the end, of the call
    as a whole, `{"code": "dependents", "count"}`: so many calls of the same turn wait until this one has a result.
    """
    values = exact_json.loads(arguments)
    masked = set(request.definition.get("sensitive") or ())
    fields = [(name, value) for name, value in dict(values).items() if name not in masked]
    past = request.precedents.get("numbers", {})
    return [*_hidden(fields), *_lookalikes(fields), *_unusual(fields, past), *_dependents(request.run)]


def number(value: Any) -> Decimal | None:
    """The value as a number, also a Decimal that is written as a string; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    try:
        found = Decimal(value)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def text_of(value: Any) -> str:
    """A bound value as it is shown and sent: text as it is, anything else as its exact JSON."""
    return value if isinstance(value, str) else exact_json.dumps(value)


def _hidden(fields: list[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    for name, value in fields:
        cut = shown(text_of(value))
        if cut.hidden:
            yield {"code": "hidden", "field": name, "count": cut.hidden, "names": cut.hidden_names[:5]}


def _lookalikes(fields: list[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    for name, value in fields:
        if words := lookalikes(text_of(value)):
            yield {"code": "lookalike", "field": name, "words": words[:5]}


def _unusual(fields: list[tuple[str, Any]], past: Mapping[str, list[str]]) -> Iterator[dict[str, Any]]:
    for name, value in fields:
        amount, before = number(value), [Decimal(each) for each in past.get(name, ())]
        if amount is None or len(before) < ENOUGH:
            continue
        smaller = sum(1 for each in before if each < amount)
        if smaller >= UNUSUAL * len(before):
            middle = f"{median(before):f}"
            yield {"code": "unusual", "field": name, "larger_than": smaller, "of": len(before), "median": middle}


def _dependents(run: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Whoever opens the request says so; calls of a turn that wait for nobody are none."""
    if count := run.get("dependents"):
        yield {"code": "dependents", "count": count}
