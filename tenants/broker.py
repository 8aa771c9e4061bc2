"""Hints to the workers, after commit. The database knows what is due; a lost message costs delay alone."""

import atexit
import functools
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Event, Lock, Thread, local
from typing import Any

from celery import current_app
from celery.app.amqp import task_message
from celery.utils import uuid
from django.conf import settings
from django.db import transaction

logger = logging.getLogger(__name__)
PATIENCE = 1.0  # Seconds for one message, and of silence after one that failed.


def publish(task_name: str, *args: Any) -> None:
    """Send this Celery task on commit, or at once outside a transaction. Never raises, never waits for the broker."""
    transaction.on_commit(lambda: _send(task_name, args))


def flush() -> None:
    """Wait until what this process has published so far is sent or given up; two seconds at most."""
    _post.flush()


@contextmanager
def at_most(count: int) -> Iterator[None]:
    """Send only so many of this thread's messages: what thousands of others would tell, the next sweep finds due."""
    _own.left = count
    try:
        yield
    finally:
        _own.left = None


class _Own(local):
    """How many messages this thread may still send; None is any number."""

    left: int | None = None


def _send(name: str, args: tuple[Any, ...]) -> None:
    if _own.left is not None:
        if _own.left == 0:
            return
        _own.left -= 1
    _post.send(name, args)


class Post:
    """A connection to the broker with a patience of its own beside the workers', used by a thread of its own: whoever
    answers a person has committed already, and waits for nobody else."""

    def __init__(self) -> None:
        self.connection: Any = None  # Kombu tells no types.
        self.put: Callable[..., object] | None = None
        self.silent_until = 0.0
        self.waiting: SimpleQueue[tuple[str, tuple[Any, ...]] | Event] = SimpleQueue()
        self.lock = Lock()
        self.thread: Thread | None = None

    def send(self, name: str, args: tuple[Any, ...]) -> None:
        """Send soon, in this order."""
        self.waiting.put((name, args))
        if self.thread is None or not self.thread.is_alive():
            self._begin()

    def flush(self) -> None:
        """Wait for what waits: a message takes a second at most, and those behind one that failed are given up."""
        if self.thread is not None and self.thread.is_alive():
            reached = Event()
            self.waiting.put(reached)
            reached.wait(2 * PATIENCE)

    def _begin(self) -> None:
        with self.lock:
            if self.thread is None or not self.thread.is_alive():
                self.thread = Thread(target=self._forever, name="post", daemon=True)
                self.thread.start()

    def _forever(self) -> None:
        while True:
            found = self.waiting.get()
            if isinstance(found, Event):
                found.set()
            else:
                self._send(*found)

    def _send(self, name: str, args: tuple[Any, ...]) -> None:
        """Send now, or say in the log why not."""
        began = time.monotonic()
        if began < self.silent_until:
            return
        old = self.put is not None
        error = self._try(name, args)
        if error and old and time.monotonic() - began < PATIENCE / 2:
            # The broker came back anew, and the connection was to the former one.
            error = self._try(name, args)
        if error:
            self.silent_until = time.monotonic() + PATIENCE
            logger.warning("The broker did not take %s: %s", name, error)

    def _try(self, name: str, args: tuple[Any, ...]) -> Exception | None:
        try:
            self.put = self.put or self._open()
            message = _message(name, _plain(args))
            self.put(message.body, headers=message.headers, **message.properties)
        except Exception as error:  # Whatever a broker's library raises, what was committed stands.
            self.close()
            return error
        return None

    def _open(self) -> Callable[..., object]:
        self.connection = _connection()
        return _put(self.connection)

    def close(self) -> None:
        """Let the connection go; the next message makes another."""
        connection, self.connection, self.put = self.connection, None, None
        if connection:
            with suppress(Exception):  # A broker that is away need not hear of it.
                connection.release()


def _connection() -> Any:
    options = {**settings.CELERY_BROKER_TRANSPORT_OPTIONS, "max_retries": 1, "interval_start": 0, "interval_max": 0}
    if settings.BROKER_URL.startswith("redis"):
        options |= {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
    return current_app.connection_for_write(settings.BROKER_URL, connect_timeout=PATIENCE, transport_options=options)


def _put(connection: Any) -> Callable[..., object]:
    """Puts Celery's own message to its queue; `send_task` would look all this up for each anew, in twice the time."""
    amqp, conf = current_app.amqp, current_app.conf
    producer = amqp.Producer(connection, auto_declare=False)
    producer.maybe_declare(amqp.default_queue)
    return functools.partial(
        producer.publish,
        exchange="",
        routing_key=amqp.default_queue.name,
        serializer=conf.task_serializer,
        delivery_mode=conf.task_default_delivery_mode,
        retry=False,
    )


def _message(name: str, args: list[Any]) -> task_message:
    """Celery's own message: what is the same in all of a name is made once."""
    form, key = _form(name), uuid()
    headers = {**form.headers, "id": key, "root_id": key, "argsrepr": repr(args)}
    properties = {**form.properties, "correlation_id": key}
    return form._replace(headers=headers, properties=properties, body=(args, *form.body[1:]))


@functools.cache
def _form(name: str) -> task_message:
    form: task_message = current_app.amqp.as_task_v2("", name, [], {})
    return form


def _plain(args: tuple[Any, ...]) -> list[Any]:
    return [arg if isinstance(arg, int | str | None) else str(arg) for arg in args]


_own = _Own()
_post = Post()
atexit.register(flush)
