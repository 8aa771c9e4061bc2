"""A connection from the pool lives, and is not asked each time whether it does."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections
from psycopg_pool import ConnectionPool, PoolTimeout

from config.pooled import PooledConnection
from tests.harness.database import NAME

pytestmark = pytest.mark.django_db

Pool = ConnectionPool[PooledConnection]


@pytest.fixture
def pool() -> Iterator[Pool]:
    params: dict[str, Any] = {**connections["default"].get_connection_params(), "autocommit": True}  # type: ignore[attr-defined]
    with ConnectionPool(
        kwargs=params, connection_class=PooledConnection, check=ConnectionPool.check_connection, min_size=1, max_size=1
    ) as found:
        yield found


def _taken(pool: Pool) -> tuple[int, float]:
    with pool.connection() as raw:
        return raw.info.backend_pid, raw.asked_at


def test_a_connection_that_answered_a_moment_ago_is_not_asked_again(pool: Pool) -> None:
    first = _taken(pool)
    assert first[1] > 0
    assert _taken(pool) == first


def test_one_that_lay_for_a_while_is_asked(pool: Pool) -> None:
    with pool.connection() as raw:
        raw.asked_at -= 60
        before = raw.asked_at
    assert _taken(pool)[1] > before


def test_one_that_the_server_ended_is_not_given_to_anybody(pool: Pool) -> None:
    pid, _asked = _taken(pool)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
        assert cursor.fetchone() == (True,)
    with pool.connection() as raw:
        assert raw.info.backend_pid != pid
        assert raw.execute("SELECT 1").fetchone() == (1,)


def test_an_empty_query_of_one_that_is_believed_changes_nothing_for_the_others(pool: Pool) -> None:
    with pool.connection() as raw:
        raw.execute("")
        assert raw.execute("SELECT 2").fetchone() == (2,)


OPTIONS: dict[str, Any] = settings.DATABASES["default"]["OPTIONS"]["pool"]


@contextmanager
def _pool(name: str) -> Iterator[Pool]:
    """One as the web process has, whose connections PostgreSQL knows by this name."""
    params = connections["default"].get_connection_params() | {"autocommit": True, "application_name": name}  # type: ignore[attr-defined]
    with ConnectionPool(kwargs=params, check=ConnectionPool.check_connection, **OPTIONS) as found:
        yield found


@contextmanager
def _administrator() -> Iterator["psycopg.Connection[tuple[Any, ...]]"]:
    where = settings.DATABASES["owner"]["HOST"]
    with psycopg.connect(host=where, user="postgres", autocommit=True) as found:
        yield found


def _end_all(administrator: "psycopg.Connection[tuple[Any, ...]]", name: str) -> int:
    ended = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = %s"
    return len(administrator.execute(ended, [name]).fetchall())


def test_after_all_idle_ones_were_ended_the_next_is_had_at_once() -> None:
    with _pool("many idle") as pool, _administrator() as administrator:
        with ExitStack() as all_at_once:
            for _number in range(8):
                all_at_once.enter_context(pool.connection())
        assert _end_all(administrator, "many idle") == 8
        with pool.connection() as raw:
            assert raw.execute("SELECT 1").fetchone() == (1,)


def test_a_database_that_is_back_is_found_however_long_it_was_away() -> None:
    with _pool("away") as pool, _administrator() as administrator:
        pool.wait()
        administrator.execute(f"ALTER DATABASE {NAME} ALLOW_CONNECTIONS false")
        try:
            _end_all(administrator, "away")
            with suppress(PoolTimeout), pool.connection(timeout=0.1):
                pass
            time.sleep(OPTIONS["timeout"] + 0.5)
        finally:
            administrator.execute(f"ALTER DATABASE {NAME} ALLOW_CONNECTIONS true")
        with pool.connection(timeout=0.7) as raw:
            assert raw.execute("SELECT 1").fetchone() == (1,)
