"""A small web server for the demo's services: one function from request to answer, on the loopback only."""

import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from examples.refund_desk import place

LARGEST_BODY = 1024 * 1024
OWN_NAMES = {"127.0.0.1", "localhost"}
POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class Answer:
    body: str
    status: int = HTTPStatus.OK
    media_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


Respond = Callable[[Request], Answer | None]


def as_json(value: Any, *, status: int = HTTPStatus.OK, **headers: str) -> Answer:
    """An answer in JSON; a header `Retry-After` is written `retry_after=`."""
    named = {name.replace("_", "-").title(): text for name, text in headers.items()}
    return Answer(json.dumps(value, ensure_ascii=False), status, "application/json", named)


def problem(status: HTTPStatus, detail: str, **headers: str) -> Answer:
    """A refusal, with a sentence for the person who reads it."""
    return as_json({"title": status.phrase, "status": status, "detail": detail}, status=status, **headers)


class Handler(BaseHTTPRequestHandler):
    """Reads one request, lets `respond` answer it; None closes the connection without an answer."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    respond: Respond

    def do_GET(self) -> None:
        self.handle_request()

    def do_POST(self) -> None:
        self.handle_request()

    def handle_request(self) -> None:
        refusal = self.refusal()
        if refusal is not None:
            self.close_connection = True
            return self.send(refusal)
        parts = urlsplit(self.path)
        request = Request(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query)),
            headers={name.lower(): text for name, text in self.headers.items()},
            body=self.rfile.read(int(self.headers.get("Content-Length", 0))),
        )
        answer = type(self).respond(request)
        return self.hang_up() if answer is None else self.send(answer)

    def refusal(self) -> Answer | None:
        """Strangers' pages are kept out: another host name, or a form posted from elsewhere."""
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        if host not in OWN_NAMES:
            return problem(HTTPStatus.MISDIRECTED_REQUEST, "Only programs of this machine are answered.")
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The body is longer than one megabyte.")
        return self.foreign_post() if self.command == "POST" else None

    def foreign_post(self) -> Answer | None:
        """No page of another origin can send JSON unasked; a form has to say that it came from here."""
        kind = self.headers.get_content_type()
        if kind == FORM and self.headers.get("Origin") == f"http://{self.headers['Host']}":
            return None
        if kind != "application/json":
            return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body must be application/json, or a form of here.")
        return None

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def send(self, answer: Answer) -> None:
        content = answer.body.encode("utf-8", "replace")
        self.send_response(answer.status)
        for name, text in answer.headers.items():
            self.send_header(name, text)
        self.send_header("Content-Type", answer.media_type)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "same-origin")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """The books are the log."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


def bind(service: str, respond: Respond) -> Server:
    """A server for `service` on its former port or, where that is taken, on a free one."""
    handler = type("Bound", (Handler,), {"respond": staticmethod(respond)})
    try:
        return Server(("127.0.0.1", place.former_port(service)), handler)
    except OSError:
        return Server(("127.0.0.1", 0), handler)


def address_of(server: Server) -> dict[str, object]:
    """What a service announces about its web side."""
    return {"url": f"http://127.0.0.1:{server.server_port}", "port": server.server_port}
