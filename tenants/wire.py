"""JSON on the wire: exact numbers both ways, times with milliseconds and an offset."""

from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils.functional import Promise
from ninja.parser import Parser
from ninja.renderers import BaseRenderer
from pydantic import BaseModel

from tenants import exact_json


class ExactParser(Parser):
    """Reads a request's body; raises BadJson for all that `exact_json` refuses."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body's value, numbers as int or Decimal."""
        return exact_json.loads(request.body)


class ExactRenderer(BaseRenderer):
    """Writes an answer with exact numbers, keys in the order given."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> str:  # noqa: ARG002
        """The answer's text."""
        return text(data)


def text(data: Any) -> str:
    """The value as JSON text; ids, times, enumerations and lazy texts included."""
    return exact_json.dumps(simple(data))


def simple(value: Any) -> Any:
    """The value in JSON's own types."""
    if isinstance(value, Mapping):
        return {str(key): simple(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [simple(item) for item in value]
    if isinstance(value, BaseModel):
        return simple(value.model_dump())
    return _scalar(value)


def instant(at: datetime) -> str:
    """The time by RFC 3339, with milliseconds and offset."""
    return at.isoformat(timespec="milliseconds")


def _scalar(value: Any) -> Any:
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, Enum):
        return _scalar(value.value)
    if isinstance(value, UUID | date | Promise):
        return str(value)
    return value
