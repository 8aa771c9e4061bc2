"""One POST to the outside: to an address that was checked, without redirects, within a time and a size."""

import socket
import ssl
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpcore
import httpx
from django.conf import settings

from approvals.notifications import guard

PATIENCE = 10.0
CONNECT = 5.0
MOST_BYTES = 65_536
Options = Iterable[Any]


@dataclass(frozen=True)
class Answered:
    """What the far side said: its status, and how long it wants to be left alone, as it wrote it."""

    status: int
    retry_after: str = ""


class Unanswered(OSError):
    """There was no answer that counts: nobody there, too slow, too much, not who they say, or an address inside."""


def post(url: str, body: bytes, headers: Mapping[str, str], *, allowed: Sequence[guard.Network]) -> Answered:
    """Send the body and read the head of the answer; raises Unanswered. Plain http goes to `allowed` addresses only."""
    backend = _Checked(allowed, plain=url.startswith("http:"), ends=time.monotonic() + PATIENCE)
    try:
        with (
            httpcore.ConnectionPool(ssl_context=_tls(), network_backend=backend, retries=0) as pool,
            pool.stream("POST", url, headers=_headers(url, headers), content=body) as response,
        ):
            told = {name.lower(): value for name, value in response.headers}
            return Answered(response.status, told.get(b"retry-after", b"").decode("latin-1")[:100])
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError) as error:
        raise Unanswered(_why(error)) from error


class _Checked(httpcore.NetworkBackend):
    """Connects to the very addresses that were checked: the name is not asked for a second time."""

    def __init__(self, allowed: Sequence[guard.Network], *, plain: bool, ends: float) -> None:
        self.allowed, self.plain, self.ends = allowed, plain, ends
        self.sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002  The whole has its end.
        local_address: str | None = None,
        socket_options: Options | None = None,
    ) -> httpcore.NetworkStream:
        failed: Exception = OSError(f"{host} has no address")
        for address in guard.resolve(host, port, self.allowed):
            if self.plain and not guard.is_named(guard.demand(address, self.allowed), self.allowed):
                raise guard.Inside("Without https only addresses of OUTBOUND_NETWORKS are called")
            left = min(CONNECT, _left(self.ends))
            try:
                stream = self.sockets.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
            else:
                return _Bounded(stream, self.ends)
        raise failed


class _Bounded(httpcore.NetworkStream):
    """A stream that ends: at a moment, and after a number of bytes, however slowly they come."""

    def __init__(self, stream: httpcore.NetworkStream, ends: float) -> None:
        self.stream, self.ends, self.bytes = stream, ends, 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        found = self.stream.read(max_bytes, _left(self.ends))
        self.bytes += len(found)
        if self.bytes > MOST_BYTES:
            raise httpcore.ReadError("The answer is too long")
        return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self.stream.write(buffer, _left(self.ends))

    def close(self) -> None:
        self.stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        inner = self.stream.start_tls(ssl_context, server_hostname, _left(self.ends))
        return _Bounded(inner, self.ends)

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)


def _left(ends: float) -> float:
    left = ends - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout(f"No answer within {PATIENCE:.0f} seconds")
    return left


def _headers(url: str, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    host = httpx.URL(url).netloc
    fixed = {"user-agent": "Vermilion", "accept": "*/*", "connection": "close"}
    return [(b"host", host), *((name.encode(), value.encode()) for name, value in {**fixed, **headers}.items())]


def _why(error: Exception) -> str:
    if isinstance(error, httpcore.TimeoutException):
        return f"No answer within {PATIENCE:.0f} seconds"
    if isinstance(error, socket.gaierror):
        return f"The name of the host is not known: {error.strerror}"
    if isinstance(error, httpcore.ConnectError):
        return f"Could not connect: {error}"[:500]
    return str(error)[:500] if isinstance(error, guard.Inside) else f"The answer broke off: {error}"[:500]


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def allowed() -> tuple[guard.Network, ...]:
    """The addresses inside that the operator allows."""
    return guard.networks(settings.OUTBOUND_NETWORKS)
