"""The parent of all processes: it starts them in order, keeps them alive and ends them in order."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import FrameType
from typing import IO

import psycopg
from django.conf import settings

from config import agent_modules
from config.local import children, prepared
from config.local.postgres import OWNER, Postgres
from config.local.trouble import Trouble, explain_database
from config.local.valkey import Valkey
from config.supervisor.child import FAILED_STARTS, SHORT_LIFE, Child, ending
from config.supervisor.console import say
from config.supervisor.ports import demand_free, reachable
from config.supervisor.processes import PYTHON, Extra, Process, own
from config.supervisor.schema import missing
from config.supervisor.services import Services

LOOK = 0.1
READY_WITHIN = 30.0
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):
    """A person or the system asked for the end."""


@dataclass(frozen=True)
class Choices:
    """How to run: each child writing to `LOCAL_DIR/log/NAME.log` rather than to where we write;
    from nothing; only as long as the process that started us.
    """

    log_files: bool = False
    reset: bool = False
    end_with_parent: bool = False


class Supervisor:
    """Runs until it is told to end or a child cannot be kept alive; then nothing of it is left."""

    def __init__(self, *, extras: Sequence[Extra] = (), choices: Choices = Choices()) -> None:
        self.extras = extras
        self.choices = choices
        self.parent = os.getppid()
        self.services = Services(settings.LOCAL_DIR)
        self.env = dict(os.environ)
        self.running: list[tuple[Process, Child]] = []
        self.keep: list[Child] = []
        self.asked = 0

    def run(self) -> None:
        """Raises Trouble where it cannot go on; returns when it was asked to end."""
        self.services.folder.demand_ours()
        demand_free(settings.HOST, settings.PORT)
        if told := agent_modules.trouble():
            raise Trouble(f"{told} Nothing was started.")
        for each in ENDING_SIGNALS:
            signal.signal(each, self._asked)
        try:
            self._start()
            self._watch()
        except Stopped:
            pass
        except psycopg.OperationalError as error:
            raise explain_database(error, where=settings.LOCAL_DIR) from error
        finally:
            self._stop()
        say("All ended.")

    # --- start ----------------------------------------------------------------------------------------

    def _start(self) -> None:
        if own_services := [name for name, service in self._services() if service]:
            say(f"Starting {' and '.join(own_services)}.")
        self.services.start(reset=self.choices.reset)
        self._keep_services()
        for extra in self.extras:
            for process in extra.processes:
                self._launch(process)
        say("Looking at the database.")
        self._migrate()
        say("Starting the processes.")
        for extra in self.extras:
            self._take_environment(extra)
        pages, *others = own()
        self._launch(pages)
        # On a small machine the others would make people wait for the pages.
        self._await(self._answers, "The web process")
        for process in others:
            self._launch(process)
        for extra in self.extras:
            for command in extra.prepare:
                self._prepare(command)
        say(f"Vermilion answers at {settings.PUBLIC_URL}. Ctrl-C ends it.")
        for extra in self.extras:
            say(extra.greeting())

    def _migrate(self) -> None:
        """As the owner; without the owner's URL only look, and raise Trouble where something is missing.

        An empty database of our own is filled in one go first: migration by migration that takes ten seconds.
        """
        if self.services.postgres:
            prepared.apply(self.services.postgres.url(OWNER))
        alias = "owner" if "owner" in settings.DATABASES else "default"
        lacking = missing(alias)
        if not lacking:
            return
        if alias != "owner":
            raise Trouble(
                f"The database lacks {lacking} migrations and DATABASE_OWNER_URL is not set. "
                "Run `python manage.py migrate` with it, then start again."
            )
        say(f"Bringing the database up to date: {lacking} migration{'' if lacking == 1 else 's'}.")
        self._prepare((PYTHON, "manage.py", "migrate", "--verbosity", "0", "--no-input"))

    def _take_environment(self, extra: Extra) -> None:
        for process in extra.processes:
            if process.ready:
                self._await(process.ready, process.name)
        self.env |= extra.environment()

    def _keep_services(self) -> None:
        for name, service in self._services():
            if service and service.child:
                self.keep.append(Child(name, service.spawn, running=service.child))

    def _services(self) -> tuple[tuple[str, Postgres | Valkey | None], ...]:
        return (("PostgreSQL", self.services.postgres), ("Valkey", self.services.valkey))

    def _launch(self, process: Process) -> None:
        child = Child(process.name, lambda: self._spawn(process), running=self._spawn(process))
        self.running.append((process, child))
        self.keep.append(child)

    def _spawn(self, process: Process) -> "subprocess.Popen[bytes]":
        log = self._log(process.name)
        try:
            return children.start(
                process.command,
                on_parent_death=signal.SIGKILL,
                env={**self.env, **process.env},
                cwd=settings.BASE_DIR,
                output=log,
            )
        finally:
            if log:
                log.close()

    def _log(self, name: str) -> IO[bytes] | None:
        if not self.choices.log_files:
            return None
        folder = Path(settings.LOCAL_DIR) / "log"
        folder.mkdir(mode=0o700, exist_ok=True)
        return (folder / f"{name}.log").open("ab")

    def _prepare(self, command: tuple[str, ...]) -> None:
        """Run `command` to its end; asked to end ourselves, end it."""
        process = children.start(command, on_parent_death=signal.SIGKILL, env=self.env, cwd=settings.BASE_DIR)
        try:
            self._await(lambda: process.poll() is not None, " ".join(command[1:]), within=300)
        finally:
            children.stop(process, signal.SIGKILL, within=5)
        if process.returncode:
            raise Trouble(f"{' '.join(command[1:])} ended with {ending(process.returncode)}; it says above why.")

    # --- watch ----------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while True:
            self._look()
            time.sleep(LOOK)

    def _look(self) -> None:
        if self.asked or (self.choices.end_with_parent and os.getppid() != self.parent):
            raise Stopped
        for child in self.keep:
            if not child.alive:
                self._again(child)

    def _again(self, child: Child) -> None:
        say(f"{child.note_death()}; it is started again.")
        if child.hopeless:
            raise Trouble(
                f"{child.name} ended {FAILED_STARTS} times within {SHORT_LIFE:.0f} s of its start. "
                "Everything is stopped; nothing is lost. What it wrote before says why."
            )
        child.start_again()

    def _await(self, done: Callable[[], bool], what: str, *, within: float = READY_WITHIN) -> None:
        deadline = time.monotonic() + within
        while not done():
            self._look()
            if time.monotonic() > deadline:
                raise Trouble(f"{what} did not answer within {within:.0f} s. Everything is stopped; nothing is lost.")
            time.sleep(LOOK / 2)

    def _answers(self) -> bool:
        connection = HTTPConnection(reachable(settings.HOST), settings.PORT, timeout=2)
        try:
            connection.request("GET", "/healthz", headers={"Host": "localhost"})
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    # --- stop -----------------------------------------------------------------------------------------

    def _asked(self, _number: int, _frame: FrameType | None) -> None:
        self.asked += 1
        if self.asked == 1:
            say("Ending; one moment.")

    def _stop(self) -> None:
        """The youngest first, all of them told at once; a second Ctrl-C waits for none."""
        for _process, child in reversed(self.running):
            if child.alive:
                with suppress(ProcessLookupError):
                    child.process.send_signal(signal.SIGTERM)
        self._await_end()
        for _process, child in self.running:
            children.stop(child.process, signal.SIGKILL, within=5)
        self.services.stop()

    def _await_end(self) -> None:
        asked, start = self.asked, time.monotonic()
        while self.asked <= max(asked, 1):
            waiting = [p for p, child in self.running if child.alive and time.monotonic() - start < p.grace]
            if not waiting:
                return
            time.sleep(LOOK / 2)
