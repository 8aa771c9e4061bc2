"""The embedded PostgreSQL: made once, started as our child, stopped last."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psycopg

from config.local import binaries, children
from config.local.folder import Folder, private
from config.local.trouble import FULL, Trouble

OWNER, APP, DATABASE = "vermilion_owner", "vermilion_app", "vermilion"
_INITDB = "--auth=trust --encoding=UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8 --no-sync -U postgres"
_SERVER = "-c listen_addresses= -c max_connections=200"


def roles(*, owner: str = OWNER, app: str = APP, database: str = DATABASE, word: str = "") -> list[str]:
    """The statements an administrator runs once: two roles and the database the first one owns.

    The owner migrates and backs up; the application's role owns nothing, bypasses nothing, makes nothing.
    """
    return [
        f"CREATE ROLE {owner} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE{word}",
        f"CREATE ROLE {app} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE{word}",
        f"CREATE DATABASE {database} OWNER {owner} ENCODING 'UTF8' TEMPLATE template0",
    ]


class Postgres:
    """One server in `folder`, reached by a socket that only this user may open."""

    def __init__(self, folder: Folder, *, options: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.options = options
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder.base / "postgres.log"

    def url(self, role: str, database: str = DATABASE) -> str:
        return f"postgresql://{role}@/{database}?host={self.folder.sockets}"

    def start(self, *, within: float = 60) -> None:
        """Start, making the data first where there is none; returns when *our* server answers.

        Raises Trouble, with the last line of the server's log, when it does not within so many seconds.
        """
        self._end_a_stray()
        if not (self.folder.data / "PG_VERSION").exists():
            self._initialise()
        self.spawn()
        deadline = time.monotonic() + within
        while not self.ready():
            if self.child is None or self.child.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise self._trouble()
            time.sleep(0.01)
        self._make_roles()

    def spawn(self) -> "subprocess.Popen[bytes]":
        """Start the server without waiting for it."""
        places = ["-D", str(self.folder.data), "-k", str(self.folder.sockets)]
        with self.log.open("ab") as log:
            self.child = children.start(
                [binaries.postgres("postgres"), *places, *_SERVER.split(), *self.options],
                on_parent_death=signal.SIGINT,
                step_down=True,
                output=log,
            )
        return self.child

    def ready(self) -> bool:
        """Whether the server that answers is our child, and answers already."""
        lines = self._pid_file()
        return (
            self.child is not None
            and len(lines) > 7
            and lines[0] == str(self.child.pid)
            and lines[7].strip() == "ready"
        )

    def stop(self) -> None:
        """The fast stop, SIGINT: it ends the sessions that are left. SIGTERM would wait for them."""
        if self.child:
            children.stop(self.child, signal.SIGINT, within=20)

    def _pid_file(self) -> list[str]:
        try:
            return (self.folder.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return []

    def _end_a_stray(self) -> None:
        """End a server that a killed supervisor left on this data; the lock says that it is nobody's."""
        lines = self._pid_file()
        pid = int(lines[0]) if lines and lines[0].isdigit() else 0
        for wait in range(1000):
            if not pid or not _is_postgres(pid):
                return
            if wait == 0:
                os.kill(pid, signal.SIGINT)
            time.sleep(0.02)
        raise Trouble(f"The PostgreSQL of an earlier start (process {pid}) does not end. End it, then start again.")

    def _initialise(self) -> None:
        """Make the data folder beside its place, then move it there: half-made data is never taken for whole."""
        beside = self.folder.data.with_suffix(".new")
        for leftover in (beside, self.folder.data):
            shutil.rmtree(leftover, ignore_errors=True)
        private(beside)
        with self.log.open("ab") as log:
            child = children.start(
                [binaries.postgres("initdb"), "-D", beside, *_INITDB.split()],
                on_parent_death=signal.SIGKILL,
                step_down=True,
                output=log,
            )
            if child.wait() != 0:
                raise self._trouble()
        beside.rename(self.folder.data)

    def _make_roles(self) -> None:
        url = self.url("postgres", "postgres")
        with psycopg.connect(url, autocommit=True) as connection:
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                return
            for statement in roles():
                name = statement.split()[2]
                if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone():
                    connection.execute(statement.encode())
            connection.execute(f"ALTER ROLE {OWNER} CREATEDB".encode())  # Its data is ours to throw away: tests.

    def _trouble(self) -> Trouble:
        tail = self.log.read_text(errors="replace").splitlines()[-12:] if self.log.exists() else []
        if any("No space left" in line for line in tail):
            return Trouble(FULL.format(where=self.folder.base))
        last = next((line for line in reversed(tail) if "FATAL" in line or "error" in line), tail[-1] if tail else "")
        return Trouble(f"PostgreSQL does not start. Its last words: {last.strip()} (the whole: {self.log})")


def _is_postgres(pid: int) -> bool:
    command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return "postgres" in subprocess.run(command, capture_output=True, text=True, check=False).stdout
