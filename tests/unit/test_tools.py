"""What a tool declares, what it validates, and the one text of a call's arguments."""

from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from runs.arguments import BadArguments
from runs.entries import StepRow
from runs.toolbox import key_of
from runs.tools import Effect, Found, Risk, Tool, ToolContext, invoke, tool
from tenants import exact_json


class Line(BaseModel):
    sku: str
    price: Decimal


@tool(effect=Effect.KEYED, risk=Risk.HIGH, summary="Refund {amount} {currency} for order {order_id}")
def refund(
    ctx: ToolContext,
    *,
    order_id: str,
    amount: Annotated[Decimal, Field(gt=0)],
    currency: Literal["EUR", "USD"] = "EUR",
    on: date | None = None,
    lines: list[Line] = [],  # noqa: B006  A default that nobody changes.
    extra: Any = None,
    count: int = 3,
) -> dict[str, Any]:
    """Pay money back to the customer's card."""
    return {"order": order_id}


@tool(effect=Effect.READ, risk=Risk.LOW, summary="Look")
def look(ctx: ToolContext) -> str:
    return "seen"


def test_a_decimal_is_a_string_in_the_schema() -> None:
    assert refund.definition["parameters"]["properties"]["amount"]["type"] == "string"


def test_defaults_are_filled_in_and_written_once() -> None:
    bound = refund.bind('{"order_id": "7", "amount": "12.50", "rationale": "broken"}')
    assert bound.text == (
        '{"order_id":"7","amount":"12.50","currency":"EUR","on":null,"lines":[],"extra":null,"count":3}'
    )
    assert bound.rationale == "broken"
    assert bound.values["amount"] == Decimal("12.50")


def test_a_call_without_a_rationale_is_valid() -> None:
    assert refund.bind('{"order_id": "7", "amount": "1"}').rationale == ""


def test_a_rationale_is_asked_for_but_is_no_part_of_the_fingerprint() -> None:
    assert "rationale" in refund.for_model.parameters["required"]
    assert "rationale" not in str(refund.definition)
    assert "rationale" not in look.for_model.parameters.get("properties", {})


def test_what_is_read_again_from_the_bound_text_is_the_same() -> None:
    text = '{"order_id":"7","amount":"12345678901234567890.10","lines":[{"sku":"a","price":"0.10"}],"on":"2026-01-02"}'
    bound = refund.bind(text)
    again = refund.signature.read(bound.text)
    assert (again.text, again.values) == (bound.text, bound.values)
    assert again.values["on"] == date(2026, 1, 2)


@pytest.mark.parametrize("number", ["1.10", "12345678901234567890", "9007199254740993", "0.1", "-3"])
def test_a_parameter_of_any_type_gets_and_writes_exact_numbers(number: str) -> None:
    bound = refund.bind(f'{{"order_id":"7","amount":"1","extra":{{"deep":[{number}]}}}}')
    assert f'"extra":{{"deep":[{number}]}}' in bound.text
    assert bound.values["extra"]["deep"][0] == Decimal(number)


BROKEN = [
    '{"a":1,',
    "null",
    "[]",
    '"x"',
    "",
    "[" * 20_000,
    '{"order_id":"7"}',
    '{"order_id":7,"amount":"1"}',
    '{"order_id":"7","amount":1}',
    '{"order_id":"7","amount":"1\\n"}',
    '{"order_id":"7","amount":"１"}',
    '{"order_id":"7","amount":"-1"}',
    '{"order_id":"7","amount":"NaN"}',
    '{"order_id":"7","amount":"1","count":"2"}',
    '{"order_id":"7","amount":"1","count":true}',
    '{"order_id":"7","amount":"1","count":2.0}',
    '{"order_id":"7","amount":"1","count":NaN}',
    '{"order_id":"7","amount":"1","on":"tomorrow"}',
    '{"order_id":"7","amount":"1","unknown":1}',
    '{"order_id":"7","order_id":"8","amount":"1"}',
    '{"order_id":"\\u0000","amount":"1"}',
    '{"order_id":"\\ud800","amount":"1"}',
    '{"order_id":"7","amount":"1","currency":"GBP"}',
]


@pytest.mark.parametrize("text", BROKEN)
def test_arguments_that_do_not_fit_are_refused_and_never_mended(text: str) -> None:
    with pytest.raises(BadArguments):
        refund.bind(text)


@given(
    st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text(max_size=5), max_size=4)
)
def test_any_json_object_is_bound_or_refused(value: dict[str, Any]) -> None:
    try:
        bound = refund.bind(exact_json.dumps(value) if _storable(value) else "{")
    except BadArguments:
        return
    assert refund.signature.read(bound.text).text == bound.text


def _storable(value: Any) -> bool:
    try:
        exact_json.dumps(value)
    except ValueError:
        return False
    return True


def test_a_refusal_does_not_repeat_what_is_sensitive() -> None:
    @tool(effect=Effect.READ, risk=Risk.LOW, summary="Open {door}", sensitive=["code"])
    def enter(ctx: ToolContext, *, door: str, code: str = "") -> None:
        """Open a door."""

    for read in (enter.bind, enter.read):
        with pytest.raises(BadArguments) as refused:
            read('{"door": 7, "code": ["4711"]}')
        assert [name for name, _ in refused.value.errors] == ["door", "code"]
        assert "4711" not in str(refused.value)
        assert "7 is not of type" in str(refused.value)


def test_sensitive_arguments_are_masked_in_the_sentence() -> None:
    @tool(effect=Effect.READ, risk=Risk.LOW, summary="Open {door} with {code}", sensitive=["code"])
    def open_door(ctx: ToolContext, *, door: str, code: str) -> None:
        """Open."""

    assert open_door.sentence({"door": "A", "code": "1234"}) == "Open A with •••"


def made(**changes: Any) -> Tool:
    settings: dict[str, Any] = {"effect": Effect.READ, "risk": Risk.LOW, "summary": "Do {what}"} | changes

    @tool(**settings)
    def act(ctx: ToolContext, *, what: str) -> None:
        """Act."""

    return act


@pytest.mark.parametrize(
    "changes", [{"risk": Risk.HIGH}, {"summary": "Undo {what}"}, {"version": "2"}, {"undo": "Do it back."}]
)
def test_the_fingerprint_changes_with_what_a_reviewer_is_shown(changes: dict[str, Any]) -> None:
    assert made(**changes).fingerprint != made().fingerprint


def test_the_fingerprint_of_the_same_declaration_is_the_same() -> None:
    assert made().fingerprint == made().fingerprint


@pytest.mark.parametrize(
    "changes",
    [
        {"effect": Effect.LOOKUP, "timeout": 1},
        {"effect": Effect.LOOKUP, "lookup": lambda ctx, what: Found()},
        {"effect": Effect.MANUAL},
        {"summary": "Do {something}"},
        {"sensitive": ["code"]},
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        made(**changes)


def test_a_parameter_named_rationale_is_refused() -> None:
    with pytest.raises(TypeError, match="rationale"):

        @tool(effect=Effect.READ, risk=Risk.LOW, summary="Do")
        def act(ctx: ToolContext, *, rationale: str) -> None:
            """Act."""


def test_a_parameter_without_a_type_is_refused() -> None:
    with pytest.raises(TypeError, match="type"):

        @tool(effect=Effect.READ, risk=Risk.LOW, summary="Do")
        def act(ctx: ToolContext, *, what) -> None:  # type: ignore[no-untyped-def]
            """Act."""


def test_plain_and_async_functions_both_work() -> None:
    async def soon(ctx: Any, *, what: str) -> str:
        return what

    def now(ctx: Any, *, what: str) -> str:
        return what

    assert [invoke(each, None, {"what": "it"}) for each in (soon, now)] == ["it", "it"]  # type: ignore[arg-type]


@tool(effect=Effect.READ, risk=Risk.LOW, summary="Count {what}")
def count(ctx: ToolContext, *, what: str, times: int = 1, loud: bool = False, at: Literal["a", "b"] = "a") -> str:
    return what


LOOSE = st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.decimals(allow_nan=False), st.just("a"))


@given(st.dictionaries(st.sampled_from(["what", "times", "loud", "at", "else"]), LOOSE))
def test_what_fits_at_a_glance_is_what_the_schema_lets_through(arguments: dict[str, Any]) -> None:
    signature = count.signature
    assert bool(signature._broken(arguments)) is bool(list(signature._rules.iter_errors(arguments)))


@tool(effect=Effect.READ, risk=Risk.LOW, summary="Tally {what}")
def tally(ctx: ToolContext, *, what: str, times: int, loud: bool) -> str:
    return what


def _shouted(text: str) -> str:
    return text.upper()


@tool(effect=Effect.READ, risk=Risk.LOW, summary="Shout {what}")
def shout(ctx: ToolContext, *, what: Annotated[str, AfterValidator(_shouted)]) -> str:
    return what


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.permutations(["what", "times", "loud"]), WORDS, st.integers(), st.booleans())
def test_arguments_of_bare_types_are_bound_as_pydantic_binds_them(
    order: list[str], what: str, times: int, loud: bool
) -> None:
    given = {"what": what, "times": times, "loud": loud}
    bound = tally.bind(exact_json.dumps({name: given[name] for name in order}))
    model = tally.signature._model.model_validate(given).model_dump(by_alias=True)
    assert tally.signature._bare is not None
    assert (bound.values, bound.plain, bound.text) == (model, model, exact_json.dumps(model))


def test_a_type_that_pydantic_looks_into_is_bound_by_pydantic() -> None:
    assert shout.bind('{"what": "hey"}').values == {"what": "HEY"}
    assert look.bind("{}").values == {}
    assert count.bind('{"what": "sheep"}').values == {"what": "sheep", "times": 1, "loud": False, "at": "a"}


@pytest.mark.parametrize("name", ["pay", "büchen", "支付"])
def test_the_key_of_a_call_stays_what_it_was_in_earlier_releases(name: str) -> None:
    segment: Any = SimpleNamespace(run_id=str(UUID(int=7)))
    step = StepRow(12, "tool_call", "planned", tool=name, generation=2)
    assert key_of(segment, step, "ab" * 32) == exact_json.digest([str(UUID(int=7)), 12, name, "ab" * 32, 2])
