"""The bell: a topic and a number, told on commit to whoever watches, and never failing what it announces."""

import atexit
import logging
import os
import time
from collections.abc import Callable, Mapping
from threading import Event, Lock, Thread
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction
from redis import ConnectionError as RedisConnectionError
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from tenants.scope import current

logger = logging.getLogger(__name__)
PATIENCE = 1.0  # Seconds for one ring; what is lost, the tick of the page finds.
KEPT = 120  # Seconds for which a list's last number is known to a page that begins to listen.
SOON = 0.002  # Seconds before a ring: what the same commit tells the workers goes first, since it starts work.
PAUSE = 0.05  # Seconds between two rings of one process; a burst of events rings each topic once.


def group(tenant: UUID, topic: str) -> str:
    """The channel group in which those watch who watch this topic of this tenant."""
    return f"{tenant.hex}.{topic.replace(':', '.')}"


def ring(topic: str, seq: int | Callable[[], int], *, tenant: UUID | None = None) -> None:
    """Tell the watchers of `topic` on commit that its number is now `seq` or more.

    A number that is a time is given as the clock itself, read once the change can be seen: a page made before the
    commit has a lower one, and looks again. Topics are `inbox`, `run:<id>` and `request:<id>` of the tenant in scope,
    or of `tenant`. Never raises, never waits.
    """
    ring_all({topic: seq}, tenant=tenant)


def ring_all(numbers: Mapping[str, int | Callable[[], int]], *, tenant: UUID | None = None) -> None:
    """The same for several topics."""
    of = tenant or current()
    transaction.on_commit(lambda: _ring_each(of, numbers))


def _ring_each(tenant: UUID, numbers: Mapping[str, int | Callable[[], int]]) -> None:
    for topic, seq in numbers.items():
        _ringer.ring(tenant, topic, seq() if callable(seq) else seq)


def ring_now(topic: str, seq: int, *, tenant: UUID) -> None:
    """Tell the watchers of what has been committed already. Never raises, never waits."""
    _ringer.ring(tenant, topic, seq)


def last(topic: str, *, tenant: UUID) -> int:
    """The number that rang last for a list within the last two minutes; 0 where none did, or nobody knows."""
    return _ringer.bell.last(tenant, topic)


def _last(tenant: UUID, topic: str) -> str:
    return f"{settings.CHANNEL_PREFIX}__last__{group(tenant, topic)}"


def connection(url: str) -> Redis:
    """A client that waits a second at most, and tries again but once, where its server came back anew."""
    once = Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,))
    return Redis.from_url(url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=once)


class Bell:
    """A connection that publishes in the channel layer's own format, without an event loop."""

    def __init__(self) -> None:
        self.client: Redis | None = None
        self.silent_until = 0.0

    def ring(self, numbers: Mapping[tuple[UUID, str], int]) -> None:
        """Publish these numbers by tenant and topic, in one round trip. After a failure it stays silent for a second,
        so that none waits again and again."""
        if time.monotonic() < self.silent_until:
            return
        try:
            self._publish(numbers)
        except (RedisError, OSError) as error:
            self.silent_until = time.monotonic() + PATIENCE
            logger.warning("The bell did not ring for %s: %s", next(iter(numbers))[1], error)

    def last(self, tenant: UUID, topic: str) -> int:
        """The number of a list that rang last, as far as is known; after a failure nothing is, for a second."""
        if time.monotonic() < self.silent_until:
            return 0
        try:
            return int(self._connected().get(_last(tenant, topic)) or 0)
        except (RedisError, OSError):
            self.silent_until = time.monotonic() + PATIENCE
            return 0

    def _connected(self) -> Redis:
        if self.client is None:
            self.client = connection(settings.CHANNEL_URL)
        return self.client

    def _publish(self, numbers: Mapping[tuple[UUID, str], int]) -> None:
        layer = get_channel_layer()
        pipeline = self._connected().pipeline(transaction=False)
        for (tenant, topic), seq in numbers.items():
            message = layer.serialize({"type": "bell", "topic": topic, "seq": seq})
            if ":" not in topic:
                pipeline.set(_last(tenant, topic), seq, ex=KEPT)
            pipeline.publish(f"{settings.CHANNEL_PREFIX}__group__{group(tenant, topic)}", message)
        pipeline.execute()


class Ringer:
    """Keeps the highest number of each topic, and rings them from a thread of its own, at most every PAUSE seconds."""

    def __init__(self) -> None:
        self.bell = Bell()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget the thread, which a fork does not copy, and what waits, which the parent rings."""
        self.waiting: dict[tuple[int, str], int] = {}  # A UUID is found by its number; its own hash is Python.
        self.lock = Lock()
        self.wake = Event()
        self.thread: Thread | None = None

    def ring(self, tenant: UUID, topic: str, seq: int) -> None:
        """Ring soon. The last number of a topic always rings."""
        key = tenant.int, topic
        with self.lock:
            if seq > self.waiting.get(key, 0):
                self.waiting[key] = seq
            if self.thread is None:
                self.thread = Thread(target=self._forever, name="bell", daemon=True)
                self.thread.start()
        if not self.wake.is_set():
            self.wake.set()

    def flush(self) -> None:
        """Ring what waits, now."""
        with self.lock:
            numbers, self.waiting = self.waiting, {}
        if numbers:
            self.bell.ring({(UUID(int=tenant), topic): seq for (tenant, topic), seq in numbers.items()})

    def _forever(self) -> None:
        try:
            while True:
                self.wake.wait()
                time.sleep(SOON)
                self.wake.clear()
                self.flush()
                time.sleep(PAUSE)
        finally:
            self.thread = None  # The next ring begins another.


_ringer = Ringer()
atexit.register(_ringer.flush)
os.register_at_fork(after_in_child=_ringer.begin_anew)
