"""A bucket that speaks S3: large values of an installation with more than one machine."""

import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import SplitResult, parse_qs, unquote

import obstore
from obstore.store import S3Store

if TYPE_CHECKING:
    from obstore.store import S3Config

CHUNK = 1 << 20
AT_ONCE = 5 << 20  # Bytes; a content above is sent in parts of this size, the least that S3 takes.
PATIENCE = timedelta(seconds=30)


class Bucket:
    """One bucket, below one prefix; keys and whatever the URL leaves open come from the AWS_… environment."""

    def __init__(self, store: S3Store) -> None:
        self._store = store

    def put(self, name: str, content: Iterable[bytes]) -> None:
        parts = iter(content)
        first = b"".join(_until(parts, AT_ONCE))
        if len(first) < AT_ONCE:
            obstore.put(self._store, name, first, use_multipart=False)
        else:
            obstore.put(self._store, name, chain([first], parts), chunk_size=AT_ONCE, max_concurrency=2)

    def open(self, name: str) -> BinaryIO:
        found = obstore.get(self._store, name)
        return cast("BinaryIO", io.BufferedReader(Chunks(found.stream(min_chunk_size=CHUNK)), CHUNK))

    def delete(self, name: str) -> None:
        with suppress(FileNotFoundError):
            obstore.delete(self._store, name)

    def names(self, prefix: str) -> Iterator[str]:
        for batch in obstore.list(self._store, prefix):
            for each in batch:
                yield each["path"]


def _until(parts: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Parts until they come to this many bytes; the rest is left to whoever asks next."""
    for part in parts:
        yield part
        size -= len(part)
        if size <= 0:
            return


class Chunks(io.RawIOBase):
    """A stream of chunks as a file that is read once, from its beginning on."""

    def __init__(self, chunks: Any) -> None:
        self._chunks = iter(chunks)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        while not self._left:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._left = memoryview(bytes(chunk))
        count = min(len(into), len(self._left))
        into[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


def bucket(url: SplitResult) -> Bucket:
    """The bucket of `s3://bucket/prefix?endpoint=http://host:port&region=name`; both options may be left out."""
    options = {name: values[-1] for name, values in parse_qs(url.query).items()}
    if unknown := set(options) - {"endpoint", "region"}:
        raise ValueError(f"STORAGE_URL has options that are not known: {', '.join(sorted(unknown))}.")
    plain = options.get("endpoint", "").startswith("http://")
    store = S3Store(
        url.netloc,
        prefix=unquote(url.path).strip("/") or None,
        client_options={"allow_http": plain, "timeout": PATIENCE},
        retry_config={"max_retries": 3, "retry_timeout": PATIENCE},
        config=cast("S3Config", options),
    )
    return Bucket(store)
