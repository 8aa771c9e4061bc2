"""A JSON column whose numbers are exact."""

import json
from typing import Any

from django.db import models

from tenants import exact_json


class Encoder(json.JSONEncoder):
    """Django's hook for writing; our writer does it all."""

    def encode(self, o: Any) -> str:
        """The value as exact JSON text."""
        return exact_json.dumps(o)


class Decoder(json.JSONDecoder):
    """Django's hook for reading; our loader does it all."""

    def decode(self, s: str, *_: Any) -> Any:
        """The value of the text, numbers as int or Decimal."""
        return exact_json.loads(s)


class ExactJSONField(models.JSONField):
    """A jsonb column read and written with exact numbers. Key order and duplicate keys are not kept."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("encoder", Encoder)
        kwargs.setdefault("decoder", Decoder)
        super().__init__(*args, **kwargs)
