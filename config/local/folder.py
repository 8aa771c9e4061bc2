"""The folder of the embedded services: its lock, its sockets, its `run.json`."""

import fcntl
import json
import os
import secrets
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from cryptography.fernet import Fernet

from config.local import children
from config.local.sockets import sockets_of
from config.local.trouble import Trouble, explain

FOLDERS = ("postgres", "postgres.new", "valkey", "sockets", "storage", "demo", "log")
FILES = ("run.json", "postgres.log", "valkey.log")


class Folder:
    """`LOCAL_DIR`, held by one supervisor at a time."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.data = base / "postgres"
        self.valkey = base / "valkey"
        self.sockets = sockets_of(base)
        self._lock: IO[str] | None = None

    def demand_ours(self) -> None:
        """Raise Trouble when another process holds the folder, and make none where there is none.

        Where there is one its lock is taken; asked before the port is, which that other process has as well.
        """
        try:
            if self.base.is_dir():
                self.lock_file()
        except OSError as error:
            raise explain(error, where=self.base) from error

    def hold(self, *, reset: bool = False) -> None:
        """Make the folder and take its lock, before anything in it is started or read; empty it with `reset`.

        Raises Trouble when another process holds it, the disk is full or the folder cannot be written.
        """
        try:
            self.base.mkdir(parents=True, exist_ok=True, mode=0o711)
            self.lock_file()
            if reset:
                self.empty()
            for part in (self.valkey, self.sockets):
                private(part)
        except OSError as error:
            self.let_go()
            raise explain(error, where=self.base) from error

    def lock_file(self) -> None:
        """Take the lock, unless it is taken by us already."""
        if self._lock:
            return
        lock = (self.base / "lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            lock.close()
            raise Trouble(
                f"Vermilion is already running from {self.base} (process {holder}). "
                "Stop it there, or start another one beside it with a LOCAL_DIR and a PORT of its own."
            ) from held
        self._lock = lock
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()

    def empty(self) -> None:
        """Remove what is known to be ours, and nothing else: LOCAL_DIR may be any folder."""
        for name in FOLDERS + FILES:
            path = self.base / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def let_go(self) -> None:
        """Release the lock; closing the file does."""
        if self._lock:
            self._lock.close()
            self._lock = None


def private(folder: Path) -> None:
    """Make `folder` readable by its owner alone, and by the services where those step down from root."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    ours = {os.geteuid(), children.NOBODY} if children.must_step_down() else {os.geteuid()}
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in ours:
        raise Trouble(f"{folder} belongs to somebody else. Remove it, or set LOCAL_DIR to another folder.")
    folder.chmod(0o700)
    if children.must_step_down():
        os.chown(folder, children.NOBODY, children.NOBODY)


def write_run_file(base: Path, urls: Mapping[str, str]) -> dict[str, str]:
    """Leave the addresses in `run.json` (0600), with the secrets it holds or, the first time, new ones.

    It replaces the file in one step: a crash leaves the old one or the new one, and the secrets stay.
    """
    path = base / "run.json"
    try:
        known = json.loads(path.read_text()) if path.exists() else {}
    except ValueError as cut:
        raise Trouble(f"{path} is damaged. It holds the keys of stored secrets: restore it, or remove {base}.") from cut
    content = _new_secrets() | {k: v for k, v in known.items() if k in _new_secrets()} | dict(urls)
    beside = path.with_suffix(".new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    return content


def _new_secrets() -> dict[str, str]:
    return {
        "SECRET_KEY": secrets.token_urlsafe(48),
        "FIELD_KEYS": Fernet.generate_key().decode(),
        "AUDIT_KEY": secrets.token_urlsafe(48),
    }
