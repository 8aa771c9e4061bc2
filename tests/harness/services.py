"""One PostgreSQL and one Valkey for the whole run, shared by all of its processes."""

import os
import shutil
from pathlib import Path

import pytest

from config.local.folder import Folder
from config.local.postgres import Postgres
from config.local.valkey import Valkey

# Safe here: a killed server loses nothing the kernel has; only a power cut would, and the data with it.
FAST = ("-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=400")


class Services:
    """The two servers in a folder of their own."""

    def __init__(self, base: Path) -> None:
        self.folder = Folder(base)
        self.postgres = Postgres(self.folder, options=FAST)
        self.valkey = Valkey(self.folder, options=("--appendfsync", "no"))

    def start(self) -> None:
        self.folder.hold()
        self.postgres.start()
        self.valkey.start()

    def stop(self) -> None:
        self.valkey.stop()
        self.postgres.stop()
        self.folder.let_go()
        shutil.rmtree(self.folder.base, ignore_errors=True)


started: list[Services] = []


def pytest_configure(config: pytest.Config) -> None:
    """The controller (or the only process) starts them before any worker is made."""
    if hasattr(config, "workerinput") or config.option.help or config.option.collectonly:
        return
    services = Services(Path(os.environ["TEST_SERVICES"]))
    services.start()
    started.append(services)


def pytest_unconfigure() -> None:
    while started:
        started.pop().stop()
