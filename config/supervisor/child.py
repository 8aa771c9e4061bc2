"""One child of the supervisor: what it lived through, and whether it may be started again."""

import subprocess
import time
from collections.abc import Callable

START = Callable[[], "subprocess.Popen[bytes]"]
# A life shorter than this is a failed start; so many in a row, and starting again is no help.
SHORT_LIFE = 30.0
FAILED_STARTS = 3


class Child:
    """A process that is kept alive: `running` now, made anew by `start`.

    With `works_from`, a signal that ends it after so many seconds is no failed start: it was at work by then, and what
    it worked on may have killed it, which is counted where the work is.
    """

    def __init__(
        self, name: str, start: START, *, running: "subprocess.Popen[bytes]", works_from: float = SHORT_LIFE
    ) -> None:
        self.name = name
        self.works_from = works_from
        self._start = start
        self.process = running
        self.started = time.monotonic()
        self.failed_starts = 0

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def hopeless(self) -> bool:
        return self.failed_starts >= FAILED_STARTS

    def note_death(self) -> str:
        """Count this death; a sentence for the log."""
        lived = time.monotonic() - self.started
        long = self.works_from if self.process.returncode < 0 else SHORT_LIFE
        self.failed_starts = self.failed_starts + 1 if lived < long else 0
        return f"{self.name} ended after {lived:.0f} s with {ending(self.process.returncode)}"

    def start_again(self) -> None:
        self.process = self._start()
        self.started = time.monotonic()


def ending(code: int) -> str:
    """How a process ended, in words."""
    return f"signal {-code}" if code < 0 else f"code {code}"
