"""What surrounds the workers falls and comes back: PostgreSQL restarted or killed, the broker killed."""

import random
import signal
import time
from collections.abc import Callable
from subprocess import Popen

from django.db import connections

from config.local.postgres import Postgres
from config.local.trouble import Trouble
from config.local.valkey import Valkey

MOMENTS = 20  # Tries to start a server whose former processes are still ending.


class Shakes:
    """Each lasts as long as chance says, two seconds at most."""

    def __init__(self, postgres: Postgres, valkey: Valkey, chance: random.Random) -> None:
        self.postgres, self.valkey, self.chance = postgres, valkey, chance

    def one(self) -> str:
        """Let one of them happen; its name."""
        name, shake = self.chance.choice(
            [
                ("restarts of PostgreSQL", self._restart),
                ("kills of PostgreSQL", lambda: self._kill(self.postgres)),
                ("kills of the broker", lambda: self._kill(self.valkey)),
            ]
        )
        shake()
        return name

    def _restart(self) -> None:
        self.postgres.stop()
        self._come_back(self.postgres)

    def _kill(self, server: Postgres | Valkey) -> None:
        child: Popen[bytes] | None = server.child
        if child is None:
            raise RuntimeError("There is no server to be killed.")
        child.send_signal(signal.SIGKILL)
        child.wait()
        self._come_back(server)

    def _come_back(self, server: Postgres | Valkey) -> None:
        time.sleep(self.chance.uniform(0.0, 2.0))
        _patiently(server.start)
        connections.close_all()  # Those of this process broke too.


def _patiently(start: Callable[[], None]) -> None:
    for _ in range(MOMENTS):
        try:
            return start()
        except Trouble:
            time.sleep(0.2)
    return start()
