"""The form that a parameter's value has to have, as a sentence for the person who typed another."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from approvals.policy import is_decimal, resolved

Schema = Mapping[str, Any]
_DEEPEST = 4


def told(schema: Schema, root: Schema, *, depth: int = 0) -> str:
    """What is wanted where `schema` stands, such as "A whole number from 1 to 9 is wanted."."""
    known = resolved(schema, root)
    choices = [resolved(each, root) for each in (*known.get("anyOf", ()), *known.get("oneOf", ()))]
    if choices and depth < _DEEPEST:
        return _any(choices, root, depth=depth)
    if "enum" in known or "const" in known:
        return _("One of these is wanted: %(choices)s.") % {"choices": _listed(known.get("enum", [known.get("const")]))}
    if known.get("type") == "string" and is_decimal(known, root):
        return _("A decimal written as text is wanted, such as 12.50: digits and a point, nothing else.")
    return _by_kind(known) + _examples(known)


def _any(choices: Sequence[Schema], root: Schema, *, depth: int) -> str:
    said = dict.fromkeys(told(each, root, depth=depth + 1) for each in choices if each.get("type") != "null")
    if any(each.get("type") == "null" for each in choices):
        said[_("Or null, for none.")] = None
    return " ".join(said)


def _by_kind(known: Schema) -> str:
    match known.get("type"):
        case "string":
            return _text(known)
        case "integer" | "number":
            return _number(known)
        case "boolean":
            return _("true or false is wanted.")
        case "null":
            return _("null is wanted.")
        case "array":
            return _("A list is wanted, as JSON, such as [1, 2].")
        case "object":
            names = ", ".join(known.get("properties", {}))
            return _("An object is wanted, as JSON, with %(names)s.") % {"names": names} if names else _object()
    return _("This does not have the form that is wanted.")


def _object() -> str:
    return _('An object is wanted, as JSON, such as {"name": 1}.')


def _text(known: Schema) -> str:
    forms = {
        "date": _("A day written as text is wanted, such as 2026-01-31."),
        "date-time": _("A time with its offset, written as text, is wanted, such as 2026-01-31T09:30:00Z."),
        "uuid": _("An id is wanted, such as 0190a1b2-c3d4-7000-8000-000000000000."),
    }
    if (form := str(known.get("format", ""))) in forms:
        return forms[form]
    if pattern := known.get("pattern"):
        return _("A text of this form is wanted: %(pattern)s") % {"pattern": pattern}
    low, high = known.get("minLength"), known.get("maxLength")
    bounds = {"low": low, "high": high}
    if low and high:
        return _("A text of %(low)s to %(high)s characters is wanted.") % bounds
    if low:
        return _("A text of at least %(low)s characters is wanted.") % bounds
    return _("A text of at most %(high)s characters is wanted.") % bounds if high else _("A text is wanted.")


def _number(known: Schema) -> str:
    whole = known.get("type") == "integer"
    bounds = {"low": known.get("minimum"), "high": known.get("maximum")}
    above, below = known.get("exclusiveMinimum"), known.get("exclusiveMaximum")
    if None not in bounds.values():
        words = _("A whole number from %(low)s to %(high)s is wanted.") if whole else _from_to()
    elif bounds["low"] is not None:
        words = _("A whole number from %(low)s on is wanted.") if whole else _("A number from %(low)s on is wanted.")
    elif bounds["high"] is not None:
        words = _("A whole number up to %(high)s is wanted.") if whole else _("A number up to %(high)s is wanted.")
    else:
        words = _("A whole number is wanted, such as 12.") if whole else _("A number is wanted, such as 12.5.")
    return " ".join([words % bounds, *_strictly(above, below)])


def _from_to() -> str:
    return _("A number from %(low)s to %(high)s is wanted.")


def _strictly(above: Any, below: Any) -> list[str]:
    found = [] if above is None else [_("More than %(low)s.") % {"low": above}]
    return found if below is None else [*found, _("Less than %(high)s.") % {"high": below}]


def _examples(known: Schema) -> str:
    """What the tool's author gives as examples."""
    given = known.get("examples")
    if not isinstance(given, list) or not given:
        return ""
    return " " + _("Such as: %(examples)s.") % {"examples": _listed(given[:3])}


def _listed(values: Sequence[Any]) -> str:
    return ", ".join("null" if each is None else str(each) for each in values)
