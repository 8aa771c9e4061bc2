"""A connection from the pool lives, and is not asked each time whether it does."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, connections
from psycopg_pool import ConnectionPool

from config.pooled import PooledConnection

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
