"""Lists by keyset: a cursor says where the last page ended, and no page is counted from the start."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, cast

from django.core.exceptions import ValidationError
from django.db.models import Field, Model, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from tenants import exact_json
from tenants.exact_json import BadJson
from tenants.refusals import Refusal

DEFAULT_LIMIT = 50
MAX_LIMIT = 200

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Slice(Generic[Row]):
    """One page of rows, and the cursor of the next, or None at the end."""

    items: list[Row]
    next: str | None

    def answer(self, show: Callable[[Row], Any]) -> dict[str, Any]:
        """The page as the API answers it."""
        return {"items": [show(item) for item in self.items], "next": self.next}


def page(rows: "QuerySet[Row]", *, by: Sequence[str], cursor: str | None, limit: int | None) -> "Slice[Row]":
    """The rows after `cursor`, at most `limit` (50, at most 200), ordered by the fields `by`.

    All fields go one way, downwards where the first starts with a minus; together they are unique.
    Raises Refusal 400 for a cursor that is none.
    """
    size = min(max(limit or DEFAULT_LIMIT, 1), MAX_LIMIT)
    names = [name.lstrip("-") for name in by]
    found = rows.order_by(*by)
    if cursor:
        found = found.filter(_after(rows.model, names, decode(cursor), down=by[0].startswith("-")))
    items = list(found[: size + 1])
    more = len(items) > size
    items = items[:size]
    return Slice(items, encode([getattr(items[-1], name) for name in names]) if more else None)


def encode(values: Sequence[Any]) -> str:
    """The cursor that `decode` reads: opaque to the client."""
    texts = [value.isoformat() if isinstance(value, datetime) else str(value) for value in values]
    return base64.urlsafe_b64encode(exact_json.dumps(texts).encode()).decode().rstrip("=")


def decode(cursor: str) -> list[str]:
    """The values a cursor names; raises Refusal 400 for a text that is no cursor of ours."""
    try:
        texts = exact_json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (BadJson, binascii.Error, ValueError):
        texts = None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _unknown()
    return texts


def _after(model: type[Model], names: Sequence[str], texts: Sequence[str], *, down: bool) -> Q:
    if len(names) != len(texts):
        raise _unknown()
    try:
        values = [_value(model, name, text) for name, text in zip(names, texts, strict=True)]
    except (ValidationError, ValueError, OverflowError):
        raise _unknown() from None
    way = "lt" if down else "gt"
    condition = Q()
    for name, value in reversed(list(zip(names, values, strict=True))):
        same = Q(**{name: value}) & condition if condition else Q(pk__in=[])
        condition = Q(**{f"{name}__{way}": value}) | same
    # Said once more for the first field alone, so that the index is entered at the right place.
    return Q(**{f"{names[0]}__{way}e": values[0]}) & condition


def _value(model: type[Model], name: str, text: str) -> Any:
    """What stood in the field. `encode` writes no time without a zone; PostgreSQL reads none whose zone is far out."""
    value = _field(model, name).to_python(text)
    if not isinstance(value, datetime):
        return value
    if value.utcoffset() is None:
        raise ValueError(text)
    return value.astimezone(UTC)


def _field(model: type[Model], name: str) -> "Field[Any, Any]":
    return cast("Field[Any, Any]", model._meta.get_field(name))


def _unknown() -> Refusal:
    return Refusal("bad_cursor", detail=_("This cursor was not given by this list."), status=400)
