"""The inbox has a number that grows with every event, and is found without reading the tenant's whole past."""

from datetime import timedelta

import pytest
from django.db import connection

from approvals.topics import BEGIN, WINDOW, inbox_number
from tenants import events, locks
from tenants.models import Event, Member
from tenants.scope import scope
from tests.cast.people import actor
from tests.harness.database import owner

pytestmark = pytest.mark.django_db(transaction=True)


def happen(member: Member, number: int) -> None:
    with scope(member.tenant_id):
        locks.hold(f"probe:{number}")
        events.append(f"probe:{number}", "run.commented", actor=actor(member))


def number(member: Member) -> int:
    with scope(member.tenant_id):
        return inbox_number()


def test_it_grows_with_an_event_and_holds_still_without_one(alice: Member) -> None:
    happen(alice, 1)
    before = number(alice)
    assert number(alice) == before
    happen(alice, 2)
    assert number(alice) > before


def test_an_event_that_nobody_looked_at_for_long_is_not_missed(alice: Member, stranger: Member) -> None:
    before = number(alice) - int((WINDOW + timedelta(hours=1)).total_seconds() * 1_000_000)
    happen(stranger, 1)
    assert number(alice) > before, "what a page saw an hour ago is older than the window's beginning"


def test_only_the_window_is_read(alice: Member) -> None:
    past = """
    INSERT INTO tenants_event SELECT (jsonb_populate_record(e, jsonb_build_object(
      'seq', n, 'at', now() - make_interval(secs => 200000 - n)))).*
    FROM tenants_event e, generate_series(2, 60000) n
    """
    happen(alice, 1)
    with scope(alice.tenant_id), connection.cursor() as cursor:
        cursor.execute(past)
    with owner(connection.settings_dict["NAME"]) as connected:
        connected.execute("ANALYZE tenants_event")
    with scope(alice.tenant_id), connection.cursor() as cursor:
        query, given = Event.objects.filter(at__gte=BEGIN).values("at").query.sql_with_params()
        cursor.execute(f"EXPLAIN {query}", given)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "events_in_time" in plan
