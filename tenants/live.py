"""The bell: a topic and a number, told on commit to whoever watches, and never failing what it announces."""

import logging
import time
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


def group(tenant: UUID, topic: str) -> str:
    """The channel group in which those watch who watch this topic of this tenant."""
    return f"{tenant.hex}.{topic.replace(':', '.')}"


def ring(topic: str, seq: int, *, tenant: UUID | None = None) -> None:
    """Tell the watchers of `topic` on commit that its number is now `seq`.

    Topics are `inbox`, `run:<id>` and `request:<id>` of the tenant in scope, or of `tenant`. Never
    raises, and gives up after one second.
    """
    of = tenant or current()
    transaction.on_commit(lambda: _bell.ring(group(of, topic), topic, seq))


def ring_now(topic: str, seq: int, *, tenant: UUID) -> None:
    """Tell the watchers at once, for what has been committed already. Never raises, and gives up after one second."""
    _bell.ring(group(tenant, topic), topic, seq)


def connection(url: str) -> Redis:
    """A client that waits a second at most, and tries again but once, where its server came back anew."""
    once = Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,))
    return Redis.from_url(url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=once)


class Bell:
    """A connection that publishes in the channel layer's own format, without an event loop."""

    def __init__(self) -> None:
        self.client: Redis | None = None
        self.silent_until = 0.0

    def ring(self, to: str, topic: str, seq: int) -> None:
        """Publish now. After a failure it stays silent for a second, so that none waits again and again."""
        if time.monotonic() < self.silent_until:
            return
        layer = get_channel_layer()
        message = {"type": "bell", "topic": topic, "seq": seq}
        try:
            self._connection().publish(f"{settings.CHANNEL_PREFIX}__group__{to}", layer.serialize(message))
        except (RedisError, OSError) as error:
            self.silent_until = time.monotonic() + PATIENCE
            logger.warning("The bell did not ring for %s: %s", topic, error)

    def _connection(self) -> Redis:
        if self.client is None:
            self.client = connection(settings.CHANNEL_URL)
        return self.client


_bell = Bell()
