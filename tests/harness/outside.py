"""The world outside, as real servers on this machine: a receiver of webhooks and chat that can fail in every way."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Receiver:
    """A server that keeps what it is sent and behaves as `how` says.

    `how` is a status, `redirect`, `hang`, `cut`, `drip` (a head that never ends) or `huge` (a head without end).
    """

    port: int = 0
    how: int | str = 200
    headers: dict[str, str] = field(default_factory=dict)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/hook"

    @property
    def bodies(self) -> list[bytes]:
        return [body for _headers, body in self.got]


class _Handler(BaseHTTPRequestHandler):
    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
        how = self.receiver.how
        if isinstance(how, int):
            self._say(how)
        else:
            getattr(self, f"_{how}")()

    def _say(self, status: int) -> None:
        self.send_response(status)
        for name, value in self.receiver.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def _redirect(self) -> None:
        self.send_response(302)
        self.send_header("Location", self.receiver.url + "/secret")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _hang(self) -> None:
        self.receiver.released.wait(30)

    def _cut(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.close()

    def _drip(self) -> None:
        self._pour(b"X: y\r\n", pause=0.05)

    def _huge(self) -> None:
        self._pour(b"X: " + b"y" * 8000 + b"\r\n", pause=0)

    def _pour(self, line: bytes, *, pause: float) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        try:
            while not self.receiver.released.wait(pause):
                self.wfile.write(line)
                self.wfile.flush()
        except OSError:
            pass

    def log_message(self, *_words: Any) -> None:
        """Nothing is written beside the test."""

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (OSError, ValueError):
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


def serve(receiver: Receiver, *, certificate: Path | None = None) -> ThreadingHTTPServer:
    """Let the receiver listen; over TLS with this certificate and key in one file."""
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"receiver": receiver}))
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        receiver.scheme = "https"
    receiver.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """A receiver on this machine, which the operator allows to be called."""
    settings.OUTBOUND_NETWORKS = ["127.0.0.0/8"]
    found = Receiver()
    server = serve(found)
    yield found
    found.released.set()
    server.shutdown()
    server.server_close()


def until(condition: Any, *, seconds: float = 10.0) -> None:
    """Wait until it holds."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it never came to hold"
        time.sleep(0.02)
