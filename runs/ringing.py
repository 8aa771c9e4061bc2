"""The bell of a run that is being advanced: rung at most every twentieth of a second, never in the way of a step."""

import threading
import time
from uuid import UUID

from tenants import live

PAUSE = 0.05


class Ringer:
    """Keeps the latest number of each run and rings it from a thread of its own; the last one always rings."""

    def __init__(self) -> None:
        self.waiting: dict[tuple[UUID, str], int] = {}
        self.wake = threading.Event()
        self.thread: threading.Thread | None = None

    def ring(self, tenant: UUID, topic: str, seq: int) -> None:
        self.waiting[tenant, topic] = seq
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=self._forever, name="bell", daemon=True)
            self.thread.start()
        self.wake.set()

    def _forever(self) -> None:
        while True:
            self.wake.wait()
            self.wake.clear()
            while self.waiting:
                (tenant, topic), seq = self.waiting.popitem()
                live.ring_now(topic, seq, tenant=tenant)
            time.sleep(PAUSE)


_ringer = Ringer()


def ring(tenant: UUID, topic: str, seq: int) -> None:
    """Tell the watchers of `topic`, soon, that its number is `seq` or more. Never raises, never waits."""
    _ringer.ring(tenant, topic, seq)
