"""Values that a JSON schema allows, a few of each kind: what a condition is tried on before it is saved."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from approvals.policy import is_decimal, resolved

OPEN: Final = object()
"""Stands for a value of which the schema says nothing."""

_TEXTS = ("a", "", "1", "1.5", "true", "2026-01-01T00:00:00Z", "60s")
_PLAIN: Mapping[str, Sequence[Any]] = {
    "integer": (1, 0, 2),
    "number": (Decimal("1.5"), 1, 0),
    "boolean": (True, False),
    "null": (None,),
    "string": _TEXTS,
}
_MOST = 12
_DEEPEST = 8


def samples(schema: Mapping[str, Any], *, root: Mapping[str, Any] | None = None, depth: int = 0) -> list[Any]:
    """Some values that `schema` allows, a `Decimal` as a number; OPEN where it says nothing."""
    whole = schema if root is None else root
    known = resolved(schema, whole)
    if depth > _DEEPEST:
        return [OPEN]
    if "const" in known or "enum" in known:
        return list(known.get("enum", [known.get("const")]))[:_MOST]
    if is_decimal(known, whole) and known.get("type") == "string":
        return [Decimal("1.5"), Decimal(1)]
    several = [*known.get("anyOf", ()), *known.get("oneOf", ())]
    if several:
        return [value for each in several for value in samples(each, root=whole, depth=depth + 1)][:_MOST]
    return _of_type(known, whole, depth)


def schema_at(schema: Mapping[str, Any], path: Sequence[str]) -> Any:
    """The schema of what lies at this path: None where nothing can lie there, OPEN where anything can."""
    found: Any = schema
    for name in path:
        found = _below(resolved(found, schema), schema, name)
        if found is None or found is OPEN:
            return found
    return found


def _below(known: Mapping[str, Any], root: Mapping[str, Any], name: str) -> Any:
    choices = [resolved(each, root) for each in (*known.get("anyOf", ()), *known.get("oneOf", ()))] or [known]
    found = [_property(each, name) for each in choices]
    return next((each for each in found if each is not None), None)


def _property(known: Mapping[str, Any], name: str) -> Any:
    if name in known.get("properties", {}):
        return known["properties"][name] or OPEN
    more = known.get("additionalProperties", "properties" not in known)
    if isinstance(more, Mapping):
        return more or OPEN
    return OPEN if more and known.get("type", "object") == "object" else None


def _of_type(known: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Any]:
    kind = known.get("type")
    if isinstance(kind, list):
        return [value for each in kind for value in samples({**known, "type": each}, root=root, depth=depth + 1)]
    if kind == "object" or "properties" in known:
        return list(_objects(known, root, depth))
    if kind == "array":
        inner = samples(known.get("items") or {}, root=root, depth=depth + 1)
        return [[each] for each in inner[:_MOST]] if OPEN not in inner else [OPEN]
    return list(_PLAIN.get(str(kind), (OPEN,)))


def _objects(known: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    """As many objects as the richest property has values; each value of each property occurs in one of them."""
    fields = {
        name: samples(each, root=root, depth=depth + 1) for name, each in known.get("properties", {}).items() if each
    }
    fields = {name: values for name, values in fields.items() if values and OPEN not in values}
    for place in range(max((len(values) for values in fields.values()), default=1)):
        yield {name: values[place % len(values)] for name, values in fields.items()}
