"""Hints to the workers, after commit. The database knows what is due; a lost message costs delay alone."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction

logger = logging.getLogger(__name__)
PATIENCE = 1.0  # Seconds for one message, and of silence after one that failed.


def publish(task_name: str, *args: Any) -> None:
    """Send this Celery task on commit, or at once outside a transaction. Never raises; gives up after 1 s."""
    transaction.on_commit(lambda: _post.send(task_name, args))


@contextmanager
def at_most(count: int) -> Iterator[None]:
    """Send only so many of this thread's messages: what thousands of others would tell, the next sweep finds due."""
    _post.left = count
    try:
        yield
    finally:
        _post.left = None


class Post(threading.local):
    """A thread's own connection to the broker, with a patience of its own beside the workers'."""

    producer: Any = None
    silent_until = 0.0
    left: int | None = None

    def send(self, name: str, args: tuple[Any, ...]) -> None:
        """Send now, or say in the log why not."""
        began = time.monotonic()
        if began < self.silent_until or self.left == 0:
            return
        if self.left is not None:
            self.left -= 1
        old = self.producer is not None
        error = self._try(name, args)
        if error and old and time.monotonic() - began < PATIENCE / 2:
            # The broker came back anew, and the connection was to the former one.
            error = self._try(name, args)
        if error:
            self.silent_until = time.monotonic() + PATIENCE
            logger.warning("The broker did not take %s: %s", name, error)

    def _try(self, name: str, args: tuple[Any, ...]) -> Exception | None:
        try:
            self.producer = self.producer or _producer()
            current_app.send_task(name, args=_plain(args), producer=self.producer, retry=False)
        except Exception as error:  # Whatever a broker's library raises, what was committed stands.
            self.producer = None
            return error
        return None


def _producer() -> Any:
    options = {**settings.CELERY_BROKER_TRANSPORT_OPTIONS, "max_retries": 1, "interval_start": 0, "interval_max": 0}
    if settings.BROKER_URL.startswith("redis"):
        options |= {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
    connection = current_app.connection_for_write(
        settings.BROKER_URL, connect_timeout=PATIENCE, transport_options=options
    )
    return current_app.amqp.Producer(connection, auto_declare=False)


def _plain(args: tuple[Any, ...]) -> list[Any]:
    return [arg if isinstance(arg, int | str | None) else str(arg) for arg in args]


_post = Post()
