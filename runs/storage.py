"""Where large values lie: a folder, or a bucket that speaks S3; named by STORAGE_URL."""

import contextlib
import importlib
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Protocol, cast
from urllib.parse import SplitResult, unquote, urlsplit

from django.conf import settings


class Storage(Protocol):
    """Contents by name; a name is segments with slashes between. No name is ever written twice."""

    def put(self, name: str, content: Iterable[bytes]) -> None:
        """Keep the content, part by part as it comes; whoever sees the name then sees all of it."""

    def open(self, name: str) -> BinaryIO:
        """The content, read as it is asked for. Raises FileNotFoundError."""

    def delete(self, name: str) -> None:
        """Let the content go, if it is there."""

    def names(self, prefix: str) -> Iterator[str]:
        """Every name that begins with this segment."""


class Folder:
    """A folder of this machine, or one that all machines mount."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, name: str, content: Iterable[bytes]) -> None:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")  # A name of its own first, so that no reader ever sees half a file.
        try:
            _write(part, content)
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)

    def open(self, name: str) -> BinaryIO:
        return (self._root / name).open("rb")

    def delete(self, name: str) -> None:
        path = self._root / name
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            path.parent.rmdir()

    def names(self, prefix: str) -> Iterator[str]:
        for folder, _, files in os.walk(self._root / prefix):
            for file in files:
                yield (Path(folder) / file).relative_to(self._root).as_posix()


def _write(path: Path, content: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        for part in content:
            file.write(part)
        file.flush()
        os.fsync(file.fileno())


def storage() -> Storage:
    """The storage that STORAGE_URL names: `file:///folder` or `s3://bucket/prefix?endpoint=…&region=…`."""
    return _of(settings.STORAGE_URL)


@lru_cache(maxsize=4)
def _of(url: str) -> Storage:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Folder(Path(unquote(parts.path)))
    if parts.scheme == "s3":
        return _bucket(parts)
    raise ValueError(f"STORAGE_URL begins with {parts.scheme}://, which is not supported; file:// and s3:// are.")


def _bucket(parts: SplitResult) -> Storage:
    """Loaded when first named: its client weighs a tenth of a second that a folder need not pay."""
    return cast("Storage", importlib.import_module("runs.bucket").bucket(parts))
