"""Large values in storage; the journal keeps their beginning and a reference."""

import contextlib
import hashlib
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import UUID

from django.conf import settings

from runs.entries import Stored
from runs.models import Payload
from tenants import ids
from tenants.scope import scope

BEGINNING = 1000  # Characters of a stored text that stay in the row, for lists and pages.


class Missing(LookupError):
    """The storage does not have what the record refers to."""


def fit(text: str, *, tenant: UUID, run: UUID) -> str | Stored:
    """The text itself, or, above PAYLOAD_INLINE bytes, its beginning and the reference to all of it."""
    if len(text) * 4 <= settings.PAYLOAD_INLINE:
        return text
    content = text.encode()
    if len(content) <= settings.PAYLOAD_INLINE:
        return text
    kept = keep(content, tenant=tenant, run=run, media_type="application/json")
    return Stored(beginning=text[:BEGINNING], payload=kept)


def keep(content: bytes, *, tenant: UUID, run: UUID, media_type: str) -> UUID:
    """Store the content, then its row; a crash between leaves a file that nothing refers to, never the reverse."""
    key = ids.new()
    location = f"{tenant}/{run}/{key}"
    _write(_root() / location, content)
    with scope(tenant):
        Payload.objects.create(
            id=key,
            tenant_id=tenant,
            run_id=run,
            digest=hashlib.sha256(content).hexdigest(),
            size=len(content),
            media_type=media_type,
            location=location,
        )
    return key


def read(payload: UUID, *, tenant: UUID) -> bytes:
    """The whole content. Raises Missing where the row or its file is not there."""
    with scope(tenant, read_only=True):
        row = Payload.objects.filter(pk=payload).first()
    if row is None:
        raise Missing(f"There is no payload {payload}.")
    return path_of(row).read_bytes()


def path_of(row: Payload) -> Path:
    """Where the content of this row lies. Raises Missing."""
    path = _root() / row.location
    if not path.is_file():
        raise Missing(f"The content of payload {row.id} is not in storage.")
    return path


def forget(location: str) -> None:
    """Delete what lies there, if it still does; its row is gone already."""
    path = _root() / location
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()


def _root() -> Path:
    url = urlsplit(settings.STORAGE_URL)
    if url.scheme != "file":
        raise ValueError("STORAGE_URL must begin with file://; other storages are not supported yet.")
    return Path(unquote(url.path))


def _write(path: Path, content: bytes) -> None:
    """Write to a name of its own first, so that no reader ever sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)
