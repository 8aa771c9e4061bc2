"""The processes that make up Vermilion, and how an example adds its own.

`up --with MODULE` imports a module that may define, all of them optional:

- `PROCESSES`: a sequence of `Process`, started before web and workers;
- `environment() -> Mapping[str, str]`: settings for everything started after them, asked once they are ready;
- `PREPARE`: a sequence of commands (argument tuples), run one after the other once the web process answers;
- `greeting() -> str`: what to print when all of that is done.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from django.conf import settings

PYTHON = sys.executable


@dataclass(frozen=True)
class Process:
    """One child: its name in messages, and its command.

    `ready` says whether it answers; what is started later waits for that, at most 30 s.
    `grace` is how many seconds it has to end after SIGTERM before it is killed.
    """

    name: str
    command: tuple[str, ...]
    grace: float = 10.0
    ready: Callable[[], bool] | None = None
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Extra:
    """What one `--with` module adds."""

    processes: Sequence[Process]
    environment: Callable[[], Mapping[str, str]]
    prepare: Sequence[tuple[str, ...]]
    greeting: Callable[[], str]


def extra(module: str) -> Extra:
    """The additions of the module with this name; ImportError where there is none."""
    found = import_module(module)
    return Extra(
        processes=getattr(found, "PROCESSES", ()),
        environment=getattr(found, "environment", dict),
        prepare=getattr(found, "PREPARE", ()),
        greeting=getattr(found, "greeting", str),
    )


def own() -> list[Process]:
    """The web process, one worker, one scheduler."""
    return [web(), worker(), beat()]


def web() -> Process:
    where = ("--host", settings.HOST, "--port", str(settings.PORT))
    # No access log: an address may hold the token of a link.
    how = ("--ws", "websockets-sansio", "--lifespan", "off", "--no-access-log", "--no-server-header")
    words = ("-m", "uvicorn", "config.asgi:application", *where, *how, "--timeout-graceful-shutdown", "5")
    return Process("web", (PYTHON, *words))


def worker() -> Process:
    pool, threads = settings.CELERY_WORKER_POOL, settings.CELERY_WORKER_CONCURRENCY
    quick = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    words = (
        "-m",
        "celery",
        "-q",
        "-A",
        "config",
        "worker",
        "-P",
        pool,
        "-c",
        str(threads),
        "-l",
        settings.LOG_LEVEL,
        *quick,
    )
    # Celery closes the whole pool of connections around each task of a prefork worker.
    env = {"DATABASE_POOL_SIZE": "0"} if pool == "prefork" else {}
    env["CELERY_SKIP_CHECKS"] = "1"  # `make check` asks them; here they would load every page.
    return Process("worker", (PYTHON, *words), grace=20.0, env=env)


def beat() -> Process:
    return Process("beat", (PYTHON, "-m", "celery", "-q", "-A", "config.schedule", "beat", "-l", settings.LOG_LEVEL))
