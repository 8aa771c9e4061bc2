"""What the API says to people: of what they sent wrong, and of each operation in its document."""

import inspect
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core.core_schema import ErrorType

from config import misfits
from config.api import api
from config.operations import OPERATIONS
from runs.api import programs

DEMAND = re.compile(r'demand\(request, ((?:"[^"]*"(?:, )?)+)\)')
MACHINE = re.compile(r"(?i)input|valid |permitted|pydantic|instance|dictionary|parse|string|pattern|\{|%\(")


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    sku: Annotated[str, Field(min_length=2, max_length=3)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(min_length=1)] = "a"
    outcome: Literal["done", "not_done", "again"] = "done"
    lines: Annotated[list[Line] | None, Field(max_length=2)] = None
    until: str | None = Field(None, alias="to")
    count: Annotated[int, Field(ge=1, le=200)] = 1


def said(**sent: Any) -> list[str]:
    with pytest.raises(ValidationError) as raised:
        Body.model_validate(sent)
    return [misfits.told(each, Body) for each in raised.value.errors(include_url=False)]


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"strange": 1}, "There is no such field here. Allowed are: name, outcome, lines, to, count."),
        ({"lines": [{"sku": "ab", "price": 1}]}, "There is no such field here. Allowed are: sku."),
        ({"lines": [{}]}, "This is required."),
        ({"lines": [{"sku": "a"}]}, "This needs at least 2 characters."),
        ({"lines": [{"sku": "a" * 4}]}, "This may have at most 3 characters."),
        ({"lines": [{"sku": "ab"}] * 3}, "This may have at most 2 entries; it has 3."),
        ({"lines": {"sku": "ab"}}, "This must be a list."),
        ({"name": ""}, "This may not be empty."),
        ({"name": 7}, "This must be a text."),
        ({"outcome": "maybe"}, "This must be one of: 'done', 'not_done', 'again'."),
        ({"count": "many"}, "This must be a whole number."),
        ({"count": 0}, "This must be at least 1."),
        ({"count": 201}, "This may be at most 200."),
    ],
)
def test_what_was_sent_wrong_is_said_with_what_is_allowed_there(sent: dict[str, Any], sentence: str) -> None:
    assert said(**sent) == [sentence]


@pytest.mark.parametrize("kind", [each for each in get_args(ErrorType) if each != "value_error"])
def test_no_error_of_pydantic_is_told_in_its_own_words(kind: str) -> None:
    context = dict.fromkeys(
        ["min_length", "max_length", "actual_length", "gt", "ge", "lt", "le", "expected", "error"], 1
    )
    error = {"type": kind, "loc": ("a",), "msg": "Input should be a valid thing", "ctx": context}
    sentence = misfits.told(error, Body)
    assert sentence.endswith(".")
    assert not MACHINE.search(sentence), sentence


def test_every_pattern_a_body_wants_has_words() -> None:
    """Without them a person is told that a text has to be one."""
    wanted = {
        str(rule["pattern"])
        for name, shape in api.get_openapi_schema()["components"]["schemas"].items()
        if not name.endswith("Out")
        for rule in _rules(shape)
        if "pattern" in rule
    }
    assert wanted
    assert wanted <= set(misfits.PATTERNS)


def _rules(shape: Any) -> Iterator[dict[str, Any]]:
    if isinstance(shape, dict):
        yield shape
        for each in shape.values():
            yield from _rules(each)
    elif isinstance(shape, list):
        for each in shape:
            yield from _rules(each)


def operations() -> dict[str, dict[str, Any]]:
    paths = api.get_openapi_schema()["paths"]
    return {
        f"{method.upper()} {path.removeprefix('/api/v1')}": told
        for path, several in paths.items()
        for method, told in several.items()
    }


def functions() -> dict[str, Any]:
    """The function of each operation, by its id in the document."""
    return {
        api.get_openapi_operation_id(each): each.view_func
        for bound in api._get_bound_routers()
        for view in bound.path_operations.values()
        for each in view.operations
    }


def test_every_operation_says_what_it_does_who_may_and_what_it_answers_and_nothing_else_is_told_of() -> None:
    found = operations()
    assert found.keys() == OPERATIONS.keys()
    for name, told in found.items():
        does, of_whom = told["description"].rsplit("\n\n", 1)
        assert len(does.split()) >= 3, name
        assert does.endswith("."), name
        assert of_whom == OPERATIONS[name].told, name
        assert "Answers " in of_whom, name


def test_no_summary_is_made_of_the_name_of_a_function() -> None:
    seen = functions()
    for name, told in operations().items():
        made = seen[told["operationId"]].__name__.replace("_", " ").title()
        assert told["summary"] != made, name


def test_who_may_is_what_each_function_demands() -> None:
    seen, checked = functions(), 0
    for name, told in operations().items():
        source = inspect.getsource(inspect.unwrap(seen[told["operationId"]]))
        source += inspect.getsource(programs._switched) if "_switched(" in source else ""
        for words in DEMAND.findall(source):
            scope, *roles = re.findall(r'"([^"]*)"', words)
            assert (OPERATIONS[name].scope, list(OPERATIONS[name].roles)) == (scope, roles), name
            checked += 1
    assert checked >= len(OPERATIONS) - 2  # The record of a run has two ways in; a callback has no key.
