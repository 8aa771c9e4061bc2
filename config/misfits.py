"""What pydantic has against a body or a query, in words for whoever sent it: which field, and what is allowed there."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, get_args

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import BaseModel

EMAIL = r"^[^@\s]+@[^@\s]+$"
AMOUNT = r"^\d{1,12}(\.\d{1,6})?$"
PATTERNS: Mapping[str, Promise] = MappingProxyType(
    {
        EMAIL: gettext_lazy("This must be an e-mail address."),
        AMOUNT: gettext_lazy(
            "This must be an amount in quotes, such as “12.50”, with at most six digits after the point."
        ),
    }
)
EXACT: Mapping[str, Promise] = MappingProxyType(
    {
        "missing": gettext_lazy("This is required."),
        "string_too_short": gettext_lazy("This needs at least %(min_length)s characters."),
        "string_too_long": gettext_lazy("This may have at most %(max_length)s characters."),
        "too_short": gettext_lazy("This needs at least %(min_length)s entries; it has %(actual_length)s."),
        "too_long": gettext_lazy("This may have at most %(max_length)s entries; it has %(actual_length)s."),
        "literal_error": gettext_lazy("This must be one of: %(expected)s."),
        "enum": gettext_lazy("This must be one of: %(expected)s."),
        "greater_than": gettext_lazy("This must be above %(gt)s."),
        "greater_than_equal": gettext_lazy("This must be at least %(ge)s."),
        "less_than": gettext_lazy("This must be below %(lt)s."),
        "less_than_equal": gettext_lazy("This may be at most %(le)s."),
        "timezone_aware": gettext_lazy("This time must name its zone, such as 2026-01-31T09:00:00Z."),
        "int_parsing_size": gettext_lazy("This number is too large."),
    }
)
# By the beginning of the kind; the first that fits.
KINDS: Mapping[str, Promise] = MappingProxyType(
    {
        "string_": gettext_lazy("This must be a text."),
        "int_": gettext_lazy("This must be a whole number."),
        "float_": gettext_lazy("This must be a number."),
        "decimal_": gettext_lazy("This must be a number."),
        "finite_": gettext_lazy("This must be a number."),
        "bool_": gettext_lazy("This must be true or false."),
        "list_": gettext_lazy("This must be a list."),
        "dict_": gettext_lazy("This must be an object, with names and values."),
        "model_": gettext_lazy("This must be an object, with names and values."),
        "mapping_": gettext_lazy("This must be an object, with names and values."),
        "datetime_": gettext_lazy("This must be a time, such as 2026-01-31T09:00:00Z."),
        "date_": gettext_lazy("This must be a day, such as 2026-01-31."),
        "time_": gettext_lazy("This must be a time of day, such as 09:00."),
        "uuid_": gettext_lazy("This must be an id, as the lists give them."),
    }
)


def told(error: Mapping[str, Any], model: Any) -> str:
    """A sentence for one of pydantic's errors; `model` is what it is of, and says what would have been allowed."""
    kind, context = str(error["type"]), error.get("ctx") or {}
    if kind == "extra_forbidden":
        return _foreign(error["loc"][:-1], model)
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_too_short" and context.get("min_length") == 1:
        return _("This may not be empty.")
    if kind == "string_pattern_mismatch" and context.get("pattern") in PATTERNS:
        return str(PATTERNS[context["pattern"]])
    if kind in EXACT:
        return str(EXACT[kind]) % {name: str(value).replace("' or '", "', '") for name, value in context.items()}
    return next((str(text) for start, text in KINDS.items() if kind.startswith(start)), _("This cannot be used here."))


def _foreign(place: tuple[Any, ...], model: Any) -> str:
    if names := ", ".join(_names(place, model)):
        return _("There is no such field here. Allowed are: %(names)s.") % {"names": names}
    return _("There is no such field here.")


def _names(place: tuple[Any, ...], model: Any) -> list[str]:
    """What a body may name at this place."""
    for part in place:
        fields = _fields(model)
        model = next(iter(_models(fields[part])), model) if part in fields else model
    return list(_fields(model))


def _fields(model: Any) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation, such as that of a list or of what may be null."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models(each)
