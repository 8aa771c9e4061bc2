"""Lines for the person at the keyboard, who may have closed the terminal meanwhile."""

import sys
from contextlib import suppress


def say(line: str = "") -> None:
    """Print a line at once; a terminal that is gone is no reason to stop badly.

    Nor is a signal that comes, and wants to say something, in the middle of another line: RuntimeError.
    """
    with suppress(OSError, ValueError, RuntimeError):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
