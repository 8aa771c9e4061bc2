"""Messages on Valkey are hints: one whose connection broke is let go, in the place of the worker ending over it.

Kombu gives what is unacknowledged back when a channel closes, and acknowledges through the closed channel what ends
afterwards; both try to reach a broker that went away, and the error that comes of it ends the worker with all its runs.
"""

from typing import Any

from kombu.transport.redis import Channel, QoS


class Hints(QoS):
    """What this process has taken and not acknowledged. What is let go, the sweep announces again."""

    restore_at_shutdown = False

    def ack(self, delivery_tag: Any) -> None:
        """Acknowledge, where the message's connection still stands."""
        if not self.channel.closed:
            super().ack(delivery_tag)  # type: ignore[no-untyped-call]

    def reject(self, delivery_tag: Any, requeue: bool = False) -> None:
        """Reject, where the message's connection still stands."""
        if not self.channel.closed:
            super().reject(delivery_tag, requeue=requeue)  # type: ignore[no-untyped-call]


_client_anew = Channel._create_client  # noqa: SLF001  Kombu has no other place for it.


def _client(channel: Channel, asynchronous: bool = False) -> Any:
    """A channel's client, kept as long as its pool: kombu makes one for each message, a third of its time."""
    if asynchronous:
        return _client_anew(channel, asynchronous=True)  # type: ignore[no-untyped-call]
    kept = channel.__dict__.get("kept_client")
    if kept is None or kept.connection_pool is not channel.pool:
        kept = channel.__dict__["kept_client"] = _client_anew(channel)  # type: ignore[no-untyped-call]
    return kept


def install() -> None:
    """Let every channel of this process count messages so, and keep its client."""
    Channel.QoS = Hints
    Channel._create_client = _client  # type: ignore[method-assign]  # noqa: SLF001
