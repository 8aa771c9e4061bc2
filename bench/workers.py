"""Real Celery workers beside the measured server."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.celery import app

WORDS = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR"]


@contextmanager
def workers(base: Path, count: int, *, threads: int = 4) -> Iterator[list[int]]:
    """So many worker processes, listening; their process numbers."""
    log = (base / "workers.log").open("ab")
    processes = [_start(number, threads, log.fileno()) for number in range(count)]
    try:
        _await_listening(count)
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)
        log.close()


def _start(number: int, threads: int, log: int) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "celery", "-A", "config.celery", "worker", "-P", "threads", "-c", str(threads)]
    name = ["-n", f"bench{number}@%h"]
    return subprocess.Popen([*words, *name, *WORDS], stdout=log, stderr=log, env=dict(os.environ))


def _await_listening(count: int) -> None:
    deadline = time.monotonic() + 60
    while len(app.control.ping(timeout=0.5)) < count:
        if time.monotonic() > deadline:
            raise TimeoutError("The workers do not listen; see workers.log.")
