"""A thread's way to the database is the one that Django has, also where an event loop runs."""

import asyncio

import pytest
from django.db import connection, connections

from tenants import here

pytestmark = pytest.mark.django_db


def test_a_thread_in_which_a_loop_runs_goes_the_way_that_django_goes_there() -> None:
    outside = here.database()

    async def within() -> bool:
        return here.database() is connections["default"]

    assert asyncio.run(within())
    assert here.database() is outside is connections["default"]
    assert connection.alias == outside.alias
