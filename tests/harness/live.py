"""The web process, in a thread beside the test, on a port of its own."""

import importlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from django.conf import settings


class LiveServer:
    """`uvicorn` serving `config.asgi`, with the pool and the database of the test's process."""

    def __init__(self) -> None:
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.url = f"http://localhost:{self.socket.getsockname()[1]}"
        settings.PUBLIC_URL = self.url  # Before the application is made: it compares the origin of a socket with it.
        settings.CSRF_TRUSTED_ORIGINS = [self.url]
        application = importlib.import_module("config.asgi").application
        config = uvicorn.Config(
            application, lifespan="off", log_level="warning", ws="websockets-sansio", log_config=None
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive(), "the web process did not start; its exception is among the warnings"
            time.sleep(0.01)

    def __str__(self) -> str:
        return self.url

    def stop(self) -> None:
        self.server.should_exit = self.server.force_exit = True
        self.thread.join(10)
        self.socket.close()


@pytest.fixture(scope="session")
def web_process(django_db_setup: None) -> Iterator[LiveServer]:
    server = LiveServer()
    yield server
    server.stop()


@pytest.fixture
def live_server(transactional_db: None, emptier: Any, web_process: LiveServer) -> LiveServer:
    """A server at `.url` that sees what the test commits."""
    return web_process


@pytest.fixture(autouse=True)
def _live_server_helper() -> None:
    """In the place of pytest-django's, which prepares a server of its own."""
