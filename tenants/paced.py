"""Sweeps begin at a pace: messages that piled up while no worker listened, or that were doubled, are let go."""

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings

_lock = threading.Lock()
_began: dict[Callable[..., Any], float] = {}


def paced(sweep: Callable[[], None]) -> Callable[[], None]:
    """Does nothing where this process began the same less than half of SWEEP_SECONDS ago.

    The time is the kernel's count. An expiry in the message would be the scheduler's clock read by the worker's, and a
    worker whose clock is a minute ahead would let every message go.
    """

    @functools.wraps(sweep)
    def at_its_pace() -> None:
        if _begins(sweep):
            sweep()

    return at_its_pace


def _begins(sweep: Callable[[], None]) -> bool:
    with _lock:
        now = time.monotonic()
        if now - _began.get(sweep, -float("inf")) < settings.SWEEP_SECONDS / 2:
            return False
        _began[sweep] = now
        return True
