"""A mail server that fails in every way: parking and deciding go on, the failure is seen, and it is tried again."""

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from approvals.notifications import delivery, mail
from tenants.models import Member, Tenant
from tests.cast.requests import fresh, park
from tests.db.test_notifications import decide, later, rows, told

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
Behaviour = Callable[[socket.socket, threading.Event], None]


def hangs(_line: socket.socket, over: threading.Event) -> None:
    over.wait(20)


def hangs_after_greeting(line: socket.socket, over: threading.Event) -> None:
    line.sendall(b"220 mail\r\n")
    over.wait(20)


def cuts(_line: socket.socket, _over: threading.Event) -> None:
    """Closes without a word."""


def cuts_after_greeting(line: socket.socket, _over: threading.Event) -> None:
    line.sendall(b"220 mail\r\n")
    line.recv(100)


def is_closed_for_now(line: socket.socket, _over: threading.Event) -> None:
    line.sendall(b"421 too busy\r\n")


def speaks_nonsense(line: socket.socket, _over: threading.Event) -> None:
    line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def refuses_the_sender(line: socket.socket, _over: threading.Event) -> None:
    line.sendall(b"220 mail\r\n")
    for answer in (b"250 hello\r\n", b"451 not now\r\n", b"250 ok\r\n", b"221 bye\r\n"):
        if not line.recv(1000):
            return
        line.sendall(answer)


@pytest.fixture
def failing(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Behaviour], None]]:
    """Lets a mail server behave so."""
    over = threading.Event()
    listeners: list[socket.socket] = []

    def behave(how: Behaviour) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        settings.EMAIL_PORT = listener.getsockname()[1]
        threading.Thread(target=serve, args=(listener, how), daemon=True).start()

    def serve(listener: socket.socket, how: Behaviour) -> None:
        while True:
            try:
                line, _address = listener.accept()
            except OSError:
                return
            with line:
                try:
                    how(line, over)
                except OSError:
                    continue

    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "127.0.0.1", "", ""
    monkeypatch.setattr(mail, "PATIENCE", 1)
    yield behave
    over.set()
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.mark.parametrize(
    "how",
    [
        hangs,
        hangs_after_greeting,
        cuts,
        cuts_after_greeting,
        is_closed_for_now,
        speaks_nonsense,
        refuses_the_sender,
    ],
    ids=lambda how: how.__name__,
)
def test_it_is_seen_hinders_nothing_and_is_tried_again(
    failing: Callable[[Behaviour], None], acme: Tenant, alice: Member, how: Behaviour
) -> None:
    failing(how)
    request = park(acme)
    delivery.sweep()
    (row,) = rows(request)
    assert (row.status, row.attempts) == ("pending", 1)
    assert row.error
    assert told(request) == ["notification.failed"]
    later()
    delivery.sweep()
    assert rows(request)[0].attempts == 2
    decide(request, alice)
    assert fresh(request).status == "approved"
