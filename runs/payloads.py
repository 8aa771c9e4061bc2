"""Large values in storage; the journal keeps their beginning and a reference.

Results, answers, summaries and what tools store lie here. Arguments do not: they are what people read, what is hashed
and compared at dispatch under the run's lock, and `proposals` refuses them above a million characters.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO
from uuid import UUID

from django.conf import settings

from runs.entries import Stored
from runs.models import Payload
from runs.storage import storage
from runs.tools import Content
from tenants import ids
from tenants.scope import scope

BEGINNING = 1000  # Characters of a stored text that stay in the row, for lists and pages.
WIDEST = 4  # Bytes of a character in UTF-8.
PART = 1 << 20  # Characters or bytes that are written at once.


class Missing(LookupError):
    """The storage does not have what the record refers to."""


def fit(text: str, *, tenant: UUID, run: UUID) -> str | Stored:
    """The text itself, or, above PAYLOAD_INLINE bytes, its beginning and the reference to all of it."""
    if len(text) * WIDEST <= settings.PAYLOAD_INLINE:
        return text
    if len(text) <= settings.PAYLOAD_INLINE and len(text.encode()) <= settings.PAYLOAD_INLINE:
        return text
    kept = keep(_encoded(text), tenant=tenant, run=run, media_type="application/json")
    return Stored(beginning=text[:BEGINNING], payload=kept)


def _encoded(text: str) -> Iterator[bytes]:
    return (text[start : start + PART].encode() for start in range(0, len(text), PART))


def keep(content: Content, *, tenant: UUID, run: UUID, media_type: str) -> UUID:
    """Store the content, part by part as it comes, then its row. For the holder of the run's lease.

    A crash between the two leaves a file that nothing refers to, never the reverse.
    """
    key = ids.new()
    location = f"{tenant}/{run}/{key}"
    passed = _Passed()
    storage().put(location, passed.through(_parts(content)))
    with scope(tenant):
        Payload.objects.create(
            id=key,
            tenant_id=tenant,
            run_id=run,
            digest=passed.digest.hexdigest(),
            size=passed.size,
            media_type=media_type,
            location=location,
        )
    return key


def _parts(content: Content) -> Iterable[bytes]:
    if isinstance(content, bytes | bytearray | memoryview):
        return [bytes(content)]
    if hasattr(content, "read"):
        return iter(lambda: content.read(PART), b"")
    return content


class _Passed:
    """What went through so far: how many bytes, and their digest."""

    def __init__(self) -> None:
        self.size = 0
        self.digest = hashlib.sha256()

    def through(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        for part in parts:
            self.size += len(part)
            self.digest.update(part)
            yield part


def read(payload: UUID, *, tenant: UUID) -> bytes:
    """The whole content. Raises Missing where the row or its file is not there."""
    with scope(tenant, read_only=True):
        row = Payload.objects.filter(pk=payload).first()
    if row is None:
        raise Missing(f"There is no payload {payload}.")
    with content_of(row) as content:
        return content.read()


def content_of(row: Payload) -> BinaryIO:
    """The content of this row, read as it is asked for; to be closed. Raises Missing."""
    try:
        return storage().open(row.location)
    except FileNotFoundError:
        raise Missing(f"The content of payload {row.id} is not in storage.") from None


def forget(location: str) -> None:
    """Delete what lies there, if it still does; its row is gone already."""
    storage().delete(location)
