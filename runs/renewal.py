"""The thread that renews this process's leases: one a process, on a connection of its own."""

import logging
import os
import threading
import time
from collections import defaultdict
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import connection

from tenants import prepared

logger = logging.getLogger(__name__)
_KEEP = prepared.statement("lease_keep", "uuid uuid[] bigint[] float8")


class Key(NamedTuple):
    """Whose lease, by fence."""

    tenant: UUID
    run: UUID
    fence: int


def keep(key: Key, *, until: float) -> None:
    """Renew this lease from now on; `until` is the monotonic time to which it is known to be held."""
    _renewer.keep(key, until)


def forget(key: Key) -> bool:
    """Renew it no more; whether it was being renewed."""
    return _renewer.forget(key)


def known_until(key: Key) -> float:
    """The monotonic time to which the lease is certainly held; 0 for one that is not kept."""
    return _renewer.held.get(key, 0.0)


class Renewer:
    """Every third of LEASE_SECONDS, one statement a tenant: those whose fence is mine and that have not lapsed."""

    def __init__(self) -> None:
        self.held: dict[Key, float] = {}
        self.lock = threading.Lock()
        self.raw: psycopg.Connection[Any] | None = None
        self.process = 0
        self.pause = 0.0
        self.soon = threading.Event()

    def keep(self, key: Key, until: float) -> None:
        with self.lock:
            self.held[key] = until
            if self.pause > settings.LEASE_SECONDS / 3:
                self.soon.set()  # It waits longer than this lease lasts: the setting has changed.
            if self.process != os.getpid():  # Also the first lease after a fork, which copies no threads.
                self.process = os.getpid()
                self.raw = None
                threading.Thread(target=self._forever, name="lease-renewal", daemon=True).start()

    def forget(self, key: Key) -> bool:
        with self.lock:
            return self.held.pop(key, None) is not None

    def _forever(self) -> None:
        while True:
            self.pause = settings.LEASE_SECONDS / 3
            self.soon.wait(self.pause)
            self.soon.clear()
            try:
                self.renew()
            except psycopg.Error as error:
                # Nothing is lost yet: the next try comes before the lease lapses, and a lapsed one writes nothing.
                logger.warning("Leases could not be renewed: %s", error)
                self._close()

    def renew(self) -> None:
        """Renew all that are held; one that is no longer ours is forgotten, and its holder will find out. One that
        somebody has locked just now is left as it is until the next time."""
        for tenant, keys in self._by_tenant().items():
            before = time.monotonic()
            values = (
                str(tenant),
                [str(k.run) for k in keys],
                [str(k.fence) for k in keys],
                str(settings.LEASE_SECONDS),
            )
            ours = dict(psycopg.RawCursor(self._connection()).execute(_KEEP.encode(), values))
            with self.lock:
                self.held |= {k: before + settings.LEASE_SECONDS for k in keys if k in self.held and ours.get(k.run)}
                for key in keys:
                    if key.run not in ours:
                        self.held.pop(key, None)

    def _by_tenant(self) -> dict[UUID, list[Key]]:
        found = defaultdict[UUID, list[Key]](list)
        with self.lock:
            for key in self.held:
                found[key.tenant].append(key)
        return found

    def _connection(self) -> "psycopg.Connection[Any]":
        if self.raw is None or self.raw.closed:
            params = {name: value for name, value in connection.get_connection_params().items() if name in _WANTED}
            self.raw = psycopg.connect(**params, autocommit=True)
        return self.raw

    def _close(self) -> None:
        if self.raw is not None:
            self.raw.close()
        self.raw = None


_WANTED = {
    "dbname",
    "user",
    "password",
    "host",
    "port",
    "service",
    "passfile",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
}

_renewer = Renewer()
