"""The embedded Valkey: broker, bell and cache of a laptop."""

import signal
import socket
import subprocess
import time
from pathlib import Path

from config.local import binaries, children
from config.local.folder import Folder
from config.local.trouble import FULL, Trouble

_OPTIONS = "--port 0 --unixsocketperm 700 --appendonly yes --maxmemory-policy noeviction --databases 256 --daemonize no"


def ask(path: Path, *commands: str) -> str:
    """What the server at `path` answers, unparsed; empty where nobody does.

    Two words over a socket: its client library would take longer to load than the server to start.
    """
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(1)
            line.connect(str(path))
            line.sendall("".join(f"{command}\r\n" for command in (*commands, "QUIT")).encode())
            return b"".join(iter(lambda: line.recv(65536), b"")).decode(errors="replace")
    except OSError:
        return ""


class Valkey:
    """One server in `folder`, reached by a socket."""

    def __init__(self, folder: Folder, *, options: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.options = options
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        return self.folder.sockets / "valkey.sock"

    @property
    def log(self) -> Path:
        return self.folder.base / "valkey.log"

    def broker_url(self, number: int = 0) -> str:
        """As Celery writes it."""
        return f"redis+socket://{self.socket}?virtual_host={number}"

    def url(self, number: int) -> str:
        """As redis-py writes it."""
        return f"unix://{self.socket}?db={number}"

    def start(self, *, within: float = 30) -> None:
        """Start, and return when *our* server answers; Trouble when it does not within so many seconds."""
        self.socket.unlink(missing_ok=True)  # The folder's lock says that nobody listens there.
        self.spawn()
        deadline = time.monotonic() + within
        while not self.ready():
            if self.child is None or self.child.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise self._trouble()
            time.sleep(0.01)

    def spawn(self) -> "subprocess.Popen[bytes]":
        """Start the server without waiting for it."""
        places = ["--unixsocket", str(self.socket), "--dir", str(self.folder.valkey)]
        with self.log.open("ab") as log:
            self.child = children.start(
                [binaries.valkey_server(), *places, *_OPTIONS.split(), "--save", "", *self.options],
                on_parent_death=signal.SIGTERM,
                step_down=True,
                output=log,
            )
        return self.child

    def ready(self) -> bool:
        """Whether the server that answers is our child, with its data read."""
        told = ask(self.socket, "INFO server", "PING")
        return self.child is not None and f"process_id:{self.child.pid}\r" in told and "+PONG" in told

    def stop(self) -> None:
        if self.child:
            children.stop(self.child, signal.SIGTERM, within=10)

    def _trouble(self) -> Trouble:
        tail = self.log.read_text(errors="replace").splitlines()[-12:] if self.log.exists() else []
        if any("No space left" in line for line in tail):
            return Trouble(FULL.format(where=self.folder.base))
        return Trouble(f"Valkey does not start. Its last words: {tail[-1] if tail else 'none'} (the whole: {self.log})")
