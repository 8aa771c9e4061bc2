"""A process that has loaded everything and forks real Celery workers, so that a thousand of them can be killed.

It reads commands from its standard input: each line `fork` makes a worker and answers with its number.
"""

import faulthandler
import os
import signal
import sys
from pathlib import Path

import django

from config.celery import app

WORDS = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR"]


def main() -> None:
    """Fork on demand; with the input's end every worker ends too."""
    django.setup()
    app.loader.import_default_modules()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    made: list[int] = []
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _work()
        made.append(pid)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
    for pid in made:
        _kill(pid)


def _work() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    said = os.open(Path(os.environ["TEST_SERVICES"]) / "workers.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(said, 2)
    faulthandler.register(signal.SIGUSR2)  # Tells, in the log, where each thread of a worker that hangs is.
    app.worker_main(["worker", "-P", "threads", "-c", "4", "-n", f"w{os.getpid()}@%h", *WORDS])
    os._exit(0)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    main()
