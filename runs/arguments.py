"""A function's signature as a contract: JSON Schema for the model, strict validation, one exact text."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from functools import cached_property
from typing import Any, get_type_hints

from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, TypeAdapter, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema, to_jsonable_python

from tenants import exact_json

RATIONALE = "rationale"
FITTING = "Use text, numbers, bool, date, UUID, Enum or Literal, and lists, dicts and pydantic models of these."
DECIMAL_PATTERN = r"^-?[0-9]{1,400}(\.[0-9]{1,400})?$(?!\n)"


class BadArguments(ValueError):
    """Arguments that do not fit the signature; `errors` are (field, sentence) pairs."""

    def __init__(self, errors: Sequence[tuple[str, str]]) -> None:
        self.errors = tuple(errors)
        super().__init__(" ".join(f"{name}: {text}" if name else text for name, text in errors))


class ExactNumber(Decimal):
    """A JSON number with a fraction, kept exactly; a plain Decimal is written as a string instead."""


@dataclass(frozen=True)
class Bound:
    """Validated arguments: the values a tool gets, and the one text everything else is read from."""

    values: Mapping[str, Any] = field(repr=False)
    text: str
    plain: Mapping[str, Any] = field(repr=False)
    """What the text says, as JSON values with exact numbers."""
    rationale: str = ""


class Signature:
    """What `function` takes after its first parameter, as a strict contract.

    Raises TypeError for a signature that cannot be one: `*args`, a parameter without a type or of one that has no
    JSON Schema, `rationale`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.names = _parameters(function)
        self._model, self.schema = _model(function, self.names)
        self.schema.pop("title", None)
        for rule in self.schema.get("properties", {}).values():
            rule.pop("title", None)

    @cached_property
    def _rules(self) -> Any:
        return _Strict(self.schema)

    @cached_property
    def _kinds(self) -> Mapping[str, type]:
        """The parameters that are text, a whole number or a truth and nothing more, with the type of their values."""
        rules = self.schema.get("properties", {})
        return {name: _KINDS[rule["type"]] for name, rule in rules.items() if _is_plain(rule)}

    @cached_property
    def _bare(self) -> Mapping[str, type] | None:
        """The parameters, where each is annotated as a text, a whole number or a truth and by nothing else: what fits
        the schema is the value then, and pydantic has no more to say."""
        fields = self._model.model_fields.values()
        bare = all(each.annotation in _KINDS.values() and not each.metadata for each in fields)
        return self._kinds if bare and self._kinds.keys() == set(self.names) else None

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(self.schema.get("required", ()))

    def _broken(self, given: Mapping[str, Any]) -> list[tuple[str, str]]:
        """What the schema has against the arguments; plain ones that are in order need not be asked about."""
        kinds = self._kinds
        if self._required <= given.keys() and all(type(each) is kinds.get(name) for name, each in given.items()):
            return []
        return [_schema_error(error) for error in self._rules.iter_errors(given)]

    def asking_why(self) -> dict[str, Any]:
        """The schema with the rationale that every model is asked for where a call changes something."""
        why = {"type": "string", "description": "Why this call is right, for the person who reviews it."}
        return {
            **self.schema,
            "properties": {**self.schema.get("properties", {}), RATIONALE: why},
            "required": [*self.schema.get("required", ()), RATIONALE],
        }

    def bind(self, text: str) -> Bound:
        """Validate the model's own text, its rationale taken off first. Raises BadArguments."""
        given = _object(text)
        why = given.pop(RATIONALE, "")
        return self._bound(given, why if isinstance(why, str) else exact_json.dumps(why))

    def read(self, text: str) -> Bound:
        """Validate a bound text again, as before an act. Raises BadArguments."""
        return self._bound(_object(text), "")

    def _bound(self, given: dict[str, Any], why: str) -> Bound:
        if {name: type(each) for name, each in given.items()} == self._bare:
            plain = {name: given[name] for name in self.names}
            return Bound(plain, exact_json.dumps(plain), plain, why)
        if broken := self._broken(given):
            raise BadArguments(broken)
        try:
            model = self._model.model_validate(_exact(given))
        except ValidationError as error:
            raise BadArguments([_model_error(each) for each in error.errors(include_url=False)]) from None
        values = {name: getattr(model, f"p{place}") for place, name in enumerate(self.names)}
        plain = jsonable(model.model_dump(by_alias=True))
        return Bound(values=values, text=exact_json.dumps(plain), plain=plain, rationale=why)


_NO_CONTEXT = (str, int, float, bool, Decimal, "str", "int", "float", "bool", "Decimal")


def no_context(function: Callable[..., Any], first: str) -> str:
    """That `first` stands where every tool takes its context."""
    name = function.__name__
    return f"{name}: the first parameter is the context, and {first} stands in its place: def {name}(ctx, {first}, …)."


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    first, *rest = inspect.signature(function).parameters.values() or (None,)
    if first is None or first.kind not in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD):
        raise TypeError(
            f"{function.__name__}: the first parameter is the ToolContext: def {function.__name__}(ctx, …)."
        )
    if first.annotation in _NO_CONTEXT:
        raise TypeError(no_context(function, first.name))
    for each in rest:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            raise TypeError(f"{function.__name__}: *{each.name} cannot be shown to a reviewer; name each parameter.")
        if each.name == RATIONALE:
            raise TypeError(
                f"{function.__name__}: {RATIONALE} is the model's reason and no parameter of a tool; rename it."
            )
    return tuple(each.name for each in rest)


def _model(function: Callable[..., Any], names: Sequence[str]) -> tuple[type[BaseModel], dict[str, Any]]:
    hints = _hints(function)
    signature = inspect.signature(function).parameters
    fields: dict[str, Any] = {}
    for place, name in enumerate(names):
        if name not in hints:
            raise TypeError(f"{function.__name__}: {name} needs a type, such as {name}: str.")
        default = signature[name].default
        fields[f"p{place}"] = (hints[name], Field(... if default is inspect.Parameter.empty else default, alias=name))
    config = ConfigDict(extra="forbid", allow_inf_nan=False, validate_default=True)
    try:
        made = create_model(f"{function.__name__}_arguments", __config__=config, **fields)
        return made, made.model_json_schema(by_alias=True, schema_generator=_Schema)
    except PydanticUserError as error:
        raise TypeError(f"{function.__name__}: {_unfit(hints, names) or error.message}") from None


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(f"{function.__name__}: {error}. Its types have to be imported where the tool is.") from None


def _unfit(hints: Mapping[str, Any], names: Sequence[str]) -> str:
    """Which parameter has a type that no model can be told of; empty where each by itself can be."""
    for name in names:
        try:
            TypeAdapter(hints[name]).json_schema(schema_generator=_Schema)
        except PydanticUserError:
            shown = getattr(hints[name], "__name__", hints[name])
            return f"no model can be told of the type of {name}, {shown}. {FITTING}"
    return ""


class _Schema(GenerateJsonSchema):
    """JSON Schema in which a decimal is a string, so that no model and no browser rounds it."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:  # noqa: ARG002
        return {"type": "string", "format": "decimal", "pattern": DECIMAL_PATTERN}


def _is_number(_checker: Any, value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_integer(_checker: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_Strict = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number}),
)


_KINDS: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool}


def _is_plain(rule: Mapping[str, Any]) -> bool:
    """Whether the schema of a parameter asks for nothing but a type."""
    return rule.get("type") in tuple(_KINDS) and not rule.keys() - {"type", "default", "description"}


def _object(text: str) -> dict[str, Any]:
    try:
        given = exact_json.loads(text)
    except exact_json.BadJson as error:
        raise BadArguments([("", f"The arguments are not valid JSON: {error}")]) from None
    if not isinstance(given, dict):
        raise BadArguments([("", "The arguments must be a JSON object.")])
    return given


def _schema_error(error: Any) -> tuple[str, str]:
    return ".".join(str(part) for part in error.absolute_path), f"{error.message[:300]}."


def _model_error(error: Any) -> tuple[str, str]:
    return ".".join(str(part) for part in error["loc"]), f"{error['msg']}."


def _exact(value: Any) -> Any:
    """The same value with fractions marked as the JSON numbers they were."""
    match value:
        case Decimal():
            return ExactNumber(value)
        case dict():
            return {name: _exact(each) for name, each in value.items()}
        case list():
            return [_exact(each) for each in value]
    return value


def jsonable(value: Any) -> Any:
    """Any value a tool takes or gives, as JSON values for the exact writer.

    A Decimal becomes a string, a JSON number stays one. Raises ValueError for what JSON cannot say.
    """
    if type(value) in _AS_THEY_ARE:
        return value
    if type(value) is dict:
        return {_key(name): jsonable(each) for name, each in value.items()}
    match value:
        case str() if not isinstance(value, Enum):
            return value
        case Enum():
            return jsonable(value.value)
        case ExactNumber():
            return Decimal(value)
        case Decimal():
            return _plain(value)
        case int():
            return int(value)
        case float():
            return _float(value)
    return _collection(value)


_AS_THEY_ARE = frozenset({type(None), bool, str, int})


def _collection(value: Any) -> Any:
    match value:
        case Mapping():
            return {_key(name): jsonable(each) for name, each in value.items()}
        case list() | tuple():
            return [jsonable(each) for each in value]
        case set() | frozenset():
            return sorted((jsonable(each) for each in value), key=exact_json.canonical)
        case BaseModel():
            return jsonable(value.model_dump(by_alias=True))
    return _foreign(value)


def _foreign(value: Any) -> Any:
    try:
        return to_jsonable_python(value)
    except Exception as error:
        raise ValueError(f"A {type(value).__name__} cannot be written as JSON.") from error


def _key(name: Any) -> str:
    key = name if type(name) is str else jsonable(name)
    return key if isinstance(key, str) else exact_json.dumps(key)


def _plain(value: Decimal) -> str:
    if not value.is_finite():
        raise ValueError(f"{value} is no number that JSON can carry.")
    return format(value, "f")


def _float(value: float) -> Decimal:
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number that JSON can carry.")
    return Decimal(repr(value))
