"""Real workers and a real scheduler, on this process's database and a Valkey database of their own.

One pair serves all tests of a process. It stands still (SIGSTOP) while no test asks for it: its sweeps would
otherwise advance the runs of tests that want none. It is stopped only with nothing in hand.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from redis import Redis

from config.celery import app
from config.local import children
from tenants.broker import _post, flush
from tests.harness.database import NAME
from tests.settings import FOLDER, LISTENED_BY_NOBODY, OWN, PAIR, SOCKET, broker

SKEWED = Path(__file__).parent / "skewed"
IDLE = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND state <> 'idle'"


def publish_to(url: str) -> None:
    """From now on this process's messages go to `url`; those of before have gone where they were to go."""
    flush()
    settings.BROKER_URL = url
    app.conf.broker_url = url
    if app._pool:
        app._pool.force_close_all()
    app._pool = None
    app.amqp._producer_pool = None
    _post.close()


def skewed(seconds: int) -> dict[str, str]:
    """The environment of a process whose host's clock is ahead by so many seconds, or behind."""
    return {"PYTHONPATH": str(SKEWED), "CLOCK_SKEW": str(seconds)}


def standing(pid: int) -> str:
    """The kernel's letter for what a process is at: R on a core, S asleep, T stopped, Z gone."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def database_url(application_name: str) -> str:
    """This process's database, as the application's role."""
    role = settings.DATABASES["default"]
    return f"postgresql://{role['USER']}@/{NAME}?host={role['HOST']}&application_name={application_name}"


class Workers:
    """Some `celery worker` processes and one `celery beat`, on Valkey's database `number`.

    `env` changes settings for them; `threads` is what each can do at once.
    """

    def __init__(
        self,
        *,
        number: int,
        n: int = 1,
        beat: bool = True,
        threads: int = 4,
        valkey: Path = SOCKET,
        env: dict[str, str],
    ) -> None:
        self.number, self.threads, self.beat_wanted = number, threads, beat
        self.name = f"workers-{os.getpid()}-{number}"
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": database_url(self.name),
            "BROKER_URL": broker(number, valkey),
            "CELERY_SKIP_CHECKS": "1",
            "PYTHONUNBUFFERED": "1",
            **env,
        }
        self.env.pop("PYTEST_CURRENT_TEST", None)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.mixed = False
        self.bereaved = False
        self.beat: subprocess.Popen[bytes] | None = None
        self.valkey = Redis(unix_socket_path=str(valkey), db=number)
        self.valkey.flushdb()
        self.log_file = Path(FOLDER) / f"{self.name}.log"
        for _ in range(n):
            self.processes.append(self._worker())
        if beat:
            self.beat = self._start("beat")
        self._await_listening(n)

    # --- what tests ask ---------------------------------------------------------------------------

    @property
    def log(self) -> str:
        """All that they have said."""
        return self.log_file.read_text(errors="replace")

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self.processes]

    @property
    def complete(self) -> bool:
        """Whether every one of them lives."""
        return all(process.poll() is None for process in self.processes)

    def kill(self, index: int = 0, how: signal.Signals = signal.SIGKILL) -> None:
        """Kill one worker, by default without warning, and wait until it is gone."""
        self.processes[index].send_signal(how)
        self.processes[index].wait(30)

    def kill_all(self) -> None:
        """Kill every worker and the scheduler at one stroke."""
        everything = [*self.processes, *([self.beat] if self.beat else [])]
        for process in everything:
            process.kill()
        for process in everything:
            process.wait(30)

    def restart(self, index: int = 0) -> None:
        """Start one that was killed again, and wait until it listens."""
        self.processes[index] = self._worker()
        self._await_listening(len(self.processes))

    def restart_all(self, *, wait: bool = True) -> None:
        """Start again whatever has ended, and wait until all listen."""
        for index, process in enumerate(self.processes):
            if process.poll() is not None:
                self.bereaved = True
                self.processes[index] = self._worker()
        if self.beat_wanted and (self.beat is None or self.beat.poll() is not None):
            self.beat = self._start("beat")
        if wait:
            self._await_listening(len(self.processes))

    @property
    def listening(self) -> bool:
        """Whether every worker takes messages."""
        return self._listening() >= len(self.processes)

    def add(self, **env: str) -> int:
        """One more worker, with settings of its own; its index."""
        self.mixed = True
        self.processes.append(self._start("worker", *self._worker_words(), **env))
        self._await_listening(len(self.processes))
        return len(self.processes) - 1

    def deploy(self, **env: str) -> None:
        """End every worker, without warning, and start one with these settings in their place."""
        for process in self.processes:
            process.kill()
            process.wait(30)
        self.processes.clear()
        self.add(**env)

    def stall(self, index: int) -> int:
        """Let a worker stand still wherever its call is, with no transaction open; its pid."""
        process = self.processes[index]
        for _ in range(200):
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.02)
            if self._database_idle():
                return process.pid
            process.send_signal(signal.SIGCONT)
            time.sleep(0.02)
        raise AssertionError("the worker never stood still outside a transaction")

    def schedule(self, **env: str) -> subprocess.Popen[bytes]:
        """Start a scheduler in the place of the one there was, if any, with settings of its own."""
        if self.beat:
            self.beat.kill()
            self.beat.wait()
        self.beat = self._start("beat", **env)
        return self.beat

    @contextmanager
    def second_scheduler(self) -> Iterator[None]:
        """Another one beside the first, for as long as this lasts."""
        another = self._start("beat")
        try:
            yield
        finally:
            another.kill()
            another.wait()

    def await_idle(self, *, within: float = 10) -> None:
        """Until no message waits or is in hand, and no transaction is open; AssertionError after that time."""
        deadline = time.monotonic() + within
        while not self.idle():
            assert time.monotonic() < deadline, f"the workers are still busy after {within} s:\n{self.log[-4000:]}"
            time.sleep(0.02)

    def idle(self) -> bool:
        flush()
        return not self.valkey.llen("celery") and not self.valkey.hlen("unacked") and self._database_idle()

    def stop(self) -> None:
        """End them all now, whatever they do."""
        self.kill_all()
        self.valkey.close()

    # --- the pair's standing still ----------------------------------------------------------------

    def freeze(self) -> bool:
        """Stand still with nothing in hand; False if that did not come about, and the pair is of no more use."""
        self._signal([self.beat] if self.beat else [], signal.SIGSTOP)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if self.idle():
                self._signal(self.processes, signal.SIGSTOP)
                while any(
                    standing(pid) in "RSD" for pid in self.pids
                ):  # One that is on a core just now stops a moment later.
                    time.sleep(0.001)
                if self.idle():
                    return True
                self._signal(self.processes, signal.SIGCONT)
            time.sleep(0.02)
        return False

    def thaw(self) -> None:
        self.valkey.delete("celery")
        self._signal([*self.processes, *([self.beat] if self.beat else [])], signal.SIGCONT)

    # --- how ------------------------------------------------------------------------------------------

    def _signal(self, processes: list[subprocess.Popen[bytes]], how: signal.Signals) -> None:
        for process in processes:
            process.send_signal(how)

    def _worker_words(self) -> list[str]:
        quick = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        return ["-P", "threads", "-c", str(self.threads), "-n", f"{self.name}-{len(self.processes)}@%h", *quick]

    def _worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", *self._worker_words())

    def _start(self, *words: str, **env: str) -> subprocess.Popen[bytes]:
        with self.log_file.open("ab") as log:
            return children.start(
                [sys.executable, "-m", "celery", "-A", "config", *words, "-l", "INFO"],
                on_parent_death=signal.SIGKILL,
                env=self.env | env,
                cwd=settings.BASE_DIR,
                output=log,
            )

    def _await_listening(self, n: int, *, within: float = 60) -> None:
        deadline = time.monotonic() + within
        while self._listening() < n:
            dead = [process for process in self.processes if process.poll() is not None]
            assert not dead, f"a worker ended:\n{self.log[-4000:]}"
            assert time.monotonic() < deadline, f"no worker came up:\n{self.log[-4000:]}"
            time.sleep(0.05)

    def _listening(self) -> int:
        clients: list[dict[str, Any]] = self.valkey.client_list()
        return sum(client["db"] == str(self.number) and client["cmd"] == "brpop" for client in clients)

    def _database_idle(self) -> bool:
        with psycopg.connect(database_url("harness"), autocommit=True) as connection:
            row = connection.execute(IDLE, [self.name]).fetchone()
        return row is not None and row[0] == 0


pair: list[Workers] = []


@pytest.fixture
def workers(transactional_db: None, emptier: Any) -> Iterator[Workers]:
    """The long-lived pair, at work for this test: LEASE_SECONDS=1, SWEEP_SECONDS=0.2."""
    if not pair:
        pair.append(Workers(number=PAIR, n=2, env={}))
    pair[0].thaw()
    publish_to(broker(PAIR))
    yield pair[0]
    publish_to(broker(LISTENED_BY_NOBODY))
    if not pair[0].freeze():
        pair.pop().stop()


crews: list[Workers] = []


@pytest.fixture
def crew(transactional_db: None, emptier: Any) -> Iterator[Workers]:
    """Two workers for tests that kill, stall and deploy them, kept for the next test where they are whole again.

    A model has 2 seconds and two tries, a version one second of grace.
    """
    if not crews:
        quick = {"MODEL_TIMEOUT": "2", "MODEL_MAX_ATTEMPTS": "2", "VERSION_GRACE": "1"}
        crews.append(Workers(number=OWN[-1], n=2, env=quick))
    made = crews[0]
    made.thaw()
    publish_to(broker(OWN[-1]))
    yield made
    publish_to(broker(LISTENED_BY_NOBODY))
    if made.bereaved:  # What the dead had in hand is nobody's any more.
        made.valkey.delete("unacked", "unacked_index")
        made.bereaved = False
    if made.mixed or not made.complete or not made.freeze():
        crews.pop().stop()


@pytest.fixture
def own_workers(transactional_db: None, emptier: Any) -> Iterator[Callable[..., Workers]]:
    """Makes workers for a test that kills or slows them: `own_workers(n=2, LEASE_SECONDS="3")`."""
    made: list[Workers] = []
    numbers = iter(OWN)

    def make(n: int = 1, *, beat: bool = True, threads: int = 4, valkey: Path = SOCKET, **env: str) -> Workers:
        number = next(numbers)
        made.append(Workers(number=number, n=n, beat=beat, threads=threads, valkey=valkey, env=env))
        publish_to(broker(number, valkey))
        return made[-1]

    yield make
    publish_to(broker(LISTENED_BY_NOBODY))
    for each in made:
        each.stop()


@pytest.fixture(scope="session", autouse=True)
def _end_of_the_pair() -> Iterator[None]:
    yield
    while pair:
        pair.pop().stop()
    while crews:
        crews.pop().stop()
