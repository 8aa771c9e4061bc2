"""PostgreSQL and Valkey: our own where the environment names none, started first and stopped last."""

import os
from pathlib import Path

from config.local.folder import Folder, write_run_file
from config.local.postgres import APP, OWNER, Postgres
from config.local.trouble import explain
from config.local.valkey import Valkey


class Services:
    """What of the two is ours to run, in `LOCAL_DIR`."""

    def __init__(self, base: Path) -> None:
        self.folder = Folder(base)
        self.postgres = None if os.environ.get("DATABASE_URL") else Postgres(self.folder)
        self.valkey = None if os.environ.get("BROKER_URL") else Valkey(self.folder)

    def start(self, *, reset: bool = False) -> None:
        """Hold the folder, start both and leave their addresses in `run.json`; with `reset` from nothing.

        Raises Trouble, with nothing left running.
        """
        self.folder.hold(reset=reset)
        try:
            for service in (self.postgres, self.valkey):
                if service:
                    service.start()
            write_run_file(self.folder.base, self.urls())
        except OSError as error:
            self.stop()
            raise explain(error, where=self.folder.base) from error
        except BaseException:
            self.stop()
            raise

    def urls(self) -> dict[str, str]:
        found: dict[str, str] = {}
        if self.postgres:
            found |= {"DATABASE_URL": self.postgres.url(APP), "DATABASE_OWNER_URL": self.postgres.url(OWNER)}
        if self.valkey:
            found |= {"BROKER_URL": self.valkey.broker_url(), "CHANNEL_URL": self.valkey.url(1)}
        return found

    def stop(self) -> None:
        """Valkey, then PostgreSQL, which every other process may need to the end."""
        for service in (self.valkey, self.postgres):
            if service:
                service.stop()
        self.folder.let_go()
