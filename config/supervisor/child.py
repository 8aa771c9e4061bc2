"""One child of the supervisor: what it lived through, and whether it may be started again."""

import subprocess
import time
from collections.abc import Callable

START = Callable[[], "subprocess.Popen[bytes]"]
# A life shorter than this is a failed start; so many in a row, and starting again is no help.
SHORT_LIFE = 30.0
FAILED_STARTS = 3


class Child:
    """A process that is kept alive: `running` now, made anew by `start`."""

    def __init__(self, name: str, start: START, *, running: "subprocess.Popen[bytes]") -> None:
        self.name = name
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
        self.failed_starts = self.failed_starts + 1 if lived < SHORT_LIFE else 0
        return f"{self.name} ended after {lived:.0f} s with {ending(self.process.returncode)}"

    def start_again(self) -> None:
        self.process = self._start()
        self.started = time.monotonic()


def ending(code: int) -> str:
    """How a process ended, in words."""
    return f"signal {-code}" if code < 0 else f"code {code}"
