"""For a process started with this folder on PYTHONPATH: a host whose clock is wrong by CLOCK_SKEW seconds.

SIGUSR2 sets that clock back by an hour. What the kernel counts (`time.monotonic`, sleeping, waiting) is not touched, as
on a real host.
"""

import os
import signal
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine

_wrong = datetime.now(UTC) + timedelta(seconds=float(os.environ.get("CLOCK_SKEW", "0")))
_clock = time_machine.travel(_wrong, tick=True).start()


def _set_back(*_: Any) -> None:
    _clock.shift(timedelta(hours=-1))


signal.signal(signal.SIGUSR2, _set_back)
