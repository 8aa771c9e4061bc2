"""Arguments that a person edited: validated strictly by the frozen schema, written by our writer."""

import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext as _
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from approvals import wanted
from approvals.calls import MASK
from tenants import exact_json

_FORMS = frozenset(
    {"type", "enum", "const", "pattern", "anyOf", "oneOf", "minLength", "maxLength"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
"""What a schema demands of one value, and so can be told as the form that is wanted."""


class Unread(str):
    """What was typed where JSON or a number is wanted and is neither; no schema may take it for a text."""

    __slots__ = ()


def edited(values: Any, definition: Mapping[str, Any], *, before: str) -> tuple[str, list[dict[str, str]]]:
    """The text of the edited bound arguments, and what is wrong with them (`[{field, message}]`).

    Nothing is retyped: "2" is no integer, and neither is true. Only the parameters of the same tool are taken.
    A sensitive one that is left out, or sent as the mask it is shown as, stays what it is in the text `before`.
    """
    if not isinstance(values, dict):
        return "", [{"field": "arguments", "message": _("The arguments are an object with the tool's parameters.")}]
    try:
        exact_json.check(values)
    except exact_json.BadJson as error:
        return "", [{"field": "arguments", "message": str(error)}]
    values = {**values, **_unseen(values, definition, before)}
    schema = _closed(definition.get("parameters") or {})
    filled = _with_defaults(values, schema)
    unread = {name for name, value in values.items() if isinstance(value, Unread)}
    wrong = [*_unread(unread, schema), *(each for each in _errors(filled, schema) if each["field"] not in unread)]
    return exact_json.dumps(filled), wrong


def _unseen(values: Mapping[str, Any], definition: Mapping[str, Any], before: str) -> dict[str, Any]:
    """The sensitive values that nobody could see and so nobody meant to change."""
    standing = exact_json.loads(before)
    hidden = [name for name in definition.get("sensitive") or () if name in standing]
    return {name: standing[name] for name in hidden if values.get(name, MASK) == MASK}


def changed_fields(before: str, after: str) -> list[str]:
    """The parameters whose values differ between two texts of bound arguments."""
    old, new = dict(exact_json.loads(before)), dict(exact_json.loads(after))
    names = [*new, *[name for name in old if name not in new]]
    return [name for name in names if name not in old or name not in new or not _same(old[name], new[name])]


def _same(one: Any, other: Any) -> bool:
    return exact_json.canonical(one) == exact_json.canonical(other)


def _closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without room for what it does not name; `rationale` is for the model and never bound."""
    return {"additionalProperties": False, "type": "object", **schema}


def _with_defaults(values: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter in the tool's order, left-out ones with their default; strange ones stay, to be refused."""
    known = {
        name: values[name] if name in values else part["default"]
        for name, part in schema.get("properties", {}).items()
        if name in values or "default" in part
    }
    return {**known, **{name: value for name, value in values.items() if name not in known}}


def _unread(names: Collection[str], schema: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for name in names:
        part = schema.get("properties", {}).get(name, {})
        json = _("This cannot be read as JSON. A text stands in double quotes.")
        plain = part.get("type") in ("integer", "number")
        said = [] if plain else [json]
        known = {"type", "anyOf", "oneOf", "enum", "$ref"} & set(part)
        yield {"field": name, "message": " ".join([*said, *([wanted.told(part, schema)] if known else [])])}


def _errors(values: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, str]]:
    validator = _Exact(schema)
    for error in sorted(validator.iter_errors(values), key=lambda each: [str(part) for part in each.path]):
        yield {"field": _field(error), "message": _message(error, schema)}


def _field(error: ValidationError) -> str:
    """Where it stands, such as `lines.0.amount`: of what is missing or too much, where that would be or is."""
    patterns = {"required": r"'([^']*)' is a required", "additionalProperties": r"'([^']*)' (?:was|were) unexpected"}
    found = re.search(patterns.get(str(error.validator), r"(?!)"), error.message)
    return ".".join([*map(str, error.path), *([found[1]] if found else [])]) or "arguments"


def _message(error: ValidationError, root: Mapping[str, Any]) -> str:
    match error.validator:
        case "required":
            if error.path:
                return _("This is missing.")
            words = {"field": _field(error)}
            return _("%(field)s is missing. All fields of the call are wanted, those that stay too.") % words
        case "additionalProperties":
            return _("The tool has no such parameter.")
        case validator if validator in _FORMS:
            return " ".join([wanted.told(error.schema, root), *_quoted(error)])
    return str(error.message)[:300]


def _quoted(error: ValidationError) -> list[str]:
    """What was typed where JSON is typed and a text is wanted: nobody sees that the quotes are missing."""
    texts = [each.get("type") for each in (error.schema, *error.schema.get("anyOf", ())) if isinstance(each, dict)]
    if "string" not in texts or isinstance(error.instance, str):
        return []
    return [_("A text stands in double quotes.")]


def _is_integer(_checker: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_checker: Any, value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _matches(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not _pattern(pattern).search(value):
        yield ValidationError(f"{value[:40]!r} does not match")


_Exact = extend(
    Draft202012Validator,
    validators={"pattern": _matches},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number}),
)
