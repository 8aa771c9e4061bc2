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


def install() -> None:
    """Let every channel of this process count messages so."""
    Channel.QoS = Hints
