"""This worker's process: its name, what it loads at its start, and how it comes to rest."""

import logging
import os
import signal
import socket
import threading
from typing import Any

from celery.signals import (
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_shutdown,
    worker_shutting_down,
)

from runs import agents, calls
from runs.announcing import Announcer
from runs.errors import NotLoaded
from runs.llm import asking

logger = logging.getLogger(__name__)
_stop = threading.Event()
_leaving = threading.Lock()
_announcers: list[Announcer] = []
TAKEN_BACK_WITHIN = 2.0  # Seconds at the end of a process.


def name() -> str:
    """The name of this process in events: host and process number."""
    return f"{socket.gethostname()}:{os.getpid()}"


def stopping() -> bool:
    """Whether this process is coming to rest, so that runs are to be given back at their next boundary."""
    return _stop.is_set()


def begin(**_: Any) -> None:
    """Load the agents and make them known before the first message is taken.

    A module that cannot be imported ends the process: Celery would log the error and go on with a worker that knows
    nothing.
    """
    try:
        agents.load()
    except NotLoaded as error:
        logger.critical("%s", error)
        raise SystemExit(1) from error
    for agent in agents.registry:
        asking.warm(agent.model)
    _announcers.append(Announcer(name()))
    _announcers[-1].start()


def rest(**_: Any) -> None:
    """Let every run be given back at its next boundary, and nobody believe that this process takes another."""
    _stop.set()
    for announcer in _announcers:
        announcer.stop()


def end(**_: Any) -> None:
    """Let what was announced be taken back before the process is gone."""
    rest()
    for announcer in _announcers:
        announcer.join(TAKEN_BACK_WITHIN)


worker_init.connect(begin)
worker_process_init.connect(begin)
worker_shutting_down.connect(rest)
worker_shutdown.connect(end)
worker_process_shutdown.connect(end)


def leave_if_worn_out() -> None:
    """With half of the threads stuck in calls that were given up, come to rest; the supervisor starts another."""
    if calls.worn_out() and _leaving.acquire(blocking=False):
        _stop.set()
        os.kill(os.getpid(), signal.SIGTERM)
