"""The scheduler's beat: counted by a clock that nobody sets, so that a host's corrected time delays no sweep."""

import time
from typing import Any

from celery.beat import Scheduler


class Metronome(Scheduler):  # type: ignore[misc]
    """Sends every entry at its start and then each so many seconds.

    Celery's own counts from the wall clock: set back by an hour, it sends nothing for an hour.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._due: dict[str, float] = {}
        super().__init__(*args, **kwargs)

    def tick(self, *_: Any, **__: Any) -> float:
        """Send what is due; seconds until the next is."""
        for name, entry in self.schedule.items():
            if self._due.get(name, 0.0) <= time.monotonic():
                self._due[name] = time.monotonic() + entry.schedule.run_every.total_seconds()
                self.apply_entry(entry, producer=self.producer)
        return max(0.0, min(self._due.values()) - time.monotonic())
