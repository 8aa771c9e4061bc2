"""A database for each process, copied from one that was made as a first start makes it; emptied after each test."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.test import TransactionTestCase
from psycopg import sql
from redis import Redis

from config.local import prepared
from tests.settings import BELL, FOLDER, LISTENED_BY_NOBODY, SOCKET, WORKER

TEMPLATE = "test_template"
NAME = f"test_{WORKER or 'main'}"
TRIES = 4
TRANSACTION_FIXTURES = {"transactional_db", "live_server", "workers", "own_workers", "crew"}


def owner(database: str) -> "psycopg.Connection[tuple[Any, ...]]":
    """A connection of the owner beside Django's, which tests may forbid."""
    role = settings.DATABASES["owner"]
    return psycopg.connect(host=role["HOST"], user=role["USER"], dbname=database, autocommit=True)


def url(database: str, role: str = "owner") -> str:
    """Where a role finds a database of the run."""
    told = settings.DATABASES[role]
    return f"postgresql://{told['USER']}@/{database}?host={told['HOST']}"


@contextmanager
def _alone() -> Iterator[None]:
    with (Path(FOLDER) / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _point_at(name: str) -> None:
    for alias in ("owner", "default"):
        connections[alias].close()
        connections[alias].settings_dict["NAME"] = name
        settings.DATABASES[alias]["NAME"] = name


def _make_template() -> None:
    with owner("postgres") as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [TEMPLATE]).fetchone():
            return
        connection.execute(f"CREATE DATABASE {TEMPLATE}")
    _point_at(TEMPLATE)
    prepared.apply(url(TEMPLATE))
    call_command("migrate", database="owner", verbosity=0, interactive=False)
    connections["owner"].close()


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    """Migrated by the owner, used by the application's role: the suite proves what that role may not do."""
    with django_db_blocker.unblock(), _alone():
        _make_template()
        with owner("postgres") as connection:
            connection.execute(f"CREATE DATABASE {NAME} TEMPLATE {TEMPLATE}")
        _point_at(NAME)
    yield
    with django_db_blocker.unblock():
        for alias in connections:
            connections[alias].close()
        connections["default"].close_pool()  # type: ignore[attr-defined]


class Emptier:
    """Empties what tests filled, and leaves what migrations did."""

    def __init__(self) -> None:
        self.connection = owner(NAME)
        self.connection.execute("SET lock_timeout = '15s'")
        rows = self.connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        self.tables = [row[0] for row in rows if row[0] != "django_migrations"]
        with owner(TEMPLATE) as template:
            seeded = set(self._filled(template, self.tables))
        self.tables = [table for table in self.tables if table not in seeded]

    @staticmethod
    def _filled(connection: "psycopg.Connection[tuple[Any, ...]]", tables: list[str]) -> list[str]:
        each = sql.SQL(" UNION ALL ").join(
            sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(sql.Literal(table), sql.Identifier(table))
            for table in tables
        )
        return [row[0] for row in connection.execute(each).fetchall()] if tables else []

    def empty(self) -> None:
        """Again where something of the test still reads: a page that is being closed may have a request under way.

        PostgreSQL ends one of the two when each waits for the other's tables, and it may well be this one.
        """
        for _ in range(TRIES):
            with suppress(psycopg.errors.DeadlockDetected):
                return self._empty()
        return self._empty()

    def _empty(self) -> None:
        filled = self._filled(self.connection, self.tables)
        if filled:
            names = sql.SQL(", ").join(map(sql.Identifier, filled))
            self.connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(names))

    def close(self) -> None:
        self.connection.close()


@pytest.fixture(scope="session")
def emptier(django_db_setup: None) -> Iterator[Emptier]:
    with _alone():
        found = Emptier()
    current.append(found)
    yield found
    current.clear()
    found.close()


current: list[Emptier] = []


def _empty(self: TransactionTestCase) -> None:
    """In the place of Django's flush, which empties all tables and makes content types and permissions anew."""
    for emptier in current:
        emptier.empty()


TransactionTestCase._fixture_teardown = _empty  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _clean(request: pytest.FixtureRequest) -> Iterator[None]:
    """No message and no cached value reaches the next test."""
    if not _uses_database(request.node):
        yield
        return
    request.getfixturevalue("emptier")
    yield
    for number in (LISTENED_BY_NOBODY, BELL):
        with Redis(unix_socket_path=str(SOCKET), db=number) as client:
            client.flushdb()


def _uses_database(item: Any) -> bool:
    names = set(item.fixturenames)
    return bool(names & {"db", *TRANSACTION_FIXTURES}) or item.get_closest_marker("django_db") is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test with real transactions may look with the owner's eyes too."""
    for item in items:
        marker = item.get_closest_marker("django_db")
        commits = marker is not None and marker.kwargs.get("transaction")
        if commits or TRANSACTION_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.django_db(transaction=True, databases=["default", "owner"]), append=False)


os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")  # Playwright runs a loop in the thread of the test.
