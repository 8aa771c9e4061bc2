"""Columns that Django lacks: JSON with exact numbers, digests as bytes, actors in short."""

import base64
import json
from typing import Any
from uuid import UUID

from django.db import models

from tenants import actors, exact_json


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


class HexField(models.BinaryField):  # type: ignore[type-arg]  # Not generic where Python runs it.
    """Bytes in the database, their hexadecimal text in Python: half the room of the text."""

    def from_db_value(self, value: bytes | None, *_: Any) -> str | None:
        """The text of the bytes."""
        return None if value is None else bytes(value).hex()

    def get_prep_value(self, value: str | None) -> bytes | None:
        """The bytes of the text."""
        return None if value is None else bytes.fromhex(value)


class Base64Field(models.BinaryField):  # type: ignore[type-arg]  # As above.
    """Bytes in the database, their text in base 64 in Python."""

    def from_db_value(self, value: bytes | None, *_: Any) -> str | None:
        """The text of the bytes."""
        return None if value is None else base64.b64encode(bytes(value)).decode()

    def get_prep_value(self, value: str | None) -> bytes | None:
        """The bytes of the text."""
        return None if value is None else base64.b64decode(value)


class SubjectField(models.BinaryField):  # type: ignore[type-arg]  # As above.
    """What a row is about, `run:<id>` or any other text, as the bytes that `subject_bytes` makes of it in PostgreSQL.

    Every event has one, in its row and in its key; a run's takes 17 bytes in the place of 40.
    """

    def from_db_value(self, value: bytes | None, *_: Any) -> str | None:
        """The text of the bytes."""
        if value is None:
            return None
        kept = bytes(value)
        return f"{_RUN}{UUID(bytes=kept[1:])}" if kept[:1] == _OF_RUN else kept[1:].decode()

    def get_prep_value(self, value: str | None) -> bytes | None:
        """The bytes of the text."""
        if value is None:
            return None
        key = value.removeprefix(_RUN)
        return _OF_RUN + UUID(key).bytes if key != value and _is_id(key) else _OTHER + value.encode()


_RUN, _OF_RUN, _OTHER = "run:", b"\x01", b"\x00"


def _is_id(text: str) -> bool:
    """Whether it is an id as Python and PostgreSQL write it, and so read again as the same text."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


class ActorField(ExactJSONField):
    """Who acted, as `Actor.as_json` says it; kept as the list that `actors.packed` makes of it."""

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """The short form of an actor; any other value as it is."""
        short = actors.packed(value) if isinstance(value, dict) else value
        return super().get_db_prep_value(short, connection, prepared)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """The whole form, of rows written in either."""
        return actors.unpacked(super().from_db_value(value, expression, connection))
