"""A calendar that changes under what waits: the deadline stays as it was promised, the times of the levels follow."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from approvals import escalation, escalation_policies, week_texts, working_hours
from approvals.models import ApprovalRequest, Calendar
from tenants import preferences
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import WORKER, fresh, group, park, rule
from tests.db.test_escalation import asked
from tests.web.test_settings_pages import browser

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
ALWAYS = {day: [["00:00", "24:00"]] for day in week_texts.WEEKDAYS}


def noons(tenant: Tenant, **changes: Any) -> Calendar:
    """A calendar in which an hour from noon on is worked, each day."""
    body = {"name": "Noons", "zone": "UTC", "week": {day: [["12:00", "13:00"]] for day in week_texts.WEEKDAYS}}
    with scope(tenant.pk):
        return working_hours.create(actor=WORKER, **{**body, **changes})


def waits(tenant: Tenant, first: Member, then: Member, calendar: Calendar) -> ApprovalRequest:
    """A request open for two hours of the calendar, whose next level is asked after half an hour of it."""
    with scope(tenant.pk):
        policy = escalation_policies.create(
            actor=WORKER,
            name="Then",
            levels=[{"after": 1800, "members": [str(then.pk)]}],
            working_time=True,
            calendar=str(calendar.pk),
        )
    team = group(tenant, "Team", first)
    body = {"working_time": True, "calendar": str(calendar.pk), "response_timeout": 7200}
    rule(tenant, first, of=[{"group": team.name}], escalation_policy=str(policy.pk), **body)
    return park(tenant)


def change(tenant: Tenant, calendar: Calendar, **changes: Any) -> None:
    with scope(tenant.pk):
        working_hours.change(calendar.pk, actor=WORKER, changes=changes)


def opened_earlier(request: ApprovalRequest, *, hours: int) -> None:
    """Let the request have been opened so long before; its deadline stays."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE approvals_approvalrequest DISABLE TRIGGER request_states_frozen")
        values = [timedelta(hours=hours), request.pk]
        cursor.execute("UPDATE approvals_approvalrequest SET opened_at = opened_at - %s WHERE id = %s", values)
        cursor.execute("ALTER TABLE approvals_approvalrequest ENABLE TRIGGER request_states_frozen")


@pytest.mark.parametrize("how", ["hours", "holiday", "zone"])
def test_the_level_follows_and_the_deadline_stays(acme: Tenant, alice: Member, bo: Member, how: str) -> None:
    calendar = noons(acme)
    request = waits(acme, alice, bo, calendar)
    before = request.next_at
    assert before is not None
    first_day = before.date()
    changes: dict[str, dict[str, Any]] = {
        "hours": {"week": {day: [["20:00", "21:00"]] for day in week_texts.WEEKDAYS}},
        "holiday": {"days": [{"date": (first_day + timedelta(days=more)).isoformat()} for more in range(2)]},
        "zone": {"zone": "Pacific/Kiritimati"},
    }
    change(acme, calendar, **changes[how])
    escalation.sweep()
    after = fresh(request)
    assert after.deadline == request.deadline
    assert after.next_at != before
    assert asked(request) == {"Alice"}
    assert after.due_at is not None
    assert after.next_at is not None
    assert after.due_at <= after.next_at <= after.deadline


def test_a_level_whose_time_has_come_by_the_change_is_asked_at_once(acme: Tenant, alice: Member, bo: Member) -> None:
    calendar = noons(acme)
    request = waits(acme, alice, bo, calendar)
    opened_earlier(request, hours=1)
    change(acme, calendar, week=ALWAYS)
    escalation.sweep()
    assert asked(request) == {"Alice", "Bo"}
    assert fresh(request).deadline == request.deadline


def test_a_calendar_without_a_zone_follows_that_of_the_organisation(
    acme: Tenant, alice: Member, bo: Member, ravi: Member
) -> None:
    request = waits(acme, alice, bo, noons(acme, zone=""))
    with scope(acme.pk):
        preferences.change(actor=actor(ravi), timezone="Pacific/Kiritimati")
    escalation.sweep()
    after = fresh(request)
    assert after.deadline == request.deadline
    assert after.next_at != request.next_at


def test_an_archived_calendar_keeps_counting_for_what_names_it(acme: Tenant, alice: Member, bo: Member) -> None:
    calendar = noons(acme)
    request = waits(acme, alice, bo, calendar)
    with scope(acme.pk):
        working_hours.archive(calendar.pk, actor=WORKER)
    escalation.sweep()
    assert (fresh(request).next_at, fresh(request).deadline) == (request.next_at, request.deadline)


def test_whoever_saves_it_is_told_what_it_does_to_what_waits(acme: Tenant, ravi: Member) -> None:
    calendar = noons(acme)
    page = browser(ravi)
    week = dict.fromkeys(week_texts.WEEKDAYS, "12:00–13:00")
    sent = {"name": "Noons", "zone": "UTC", "country": "", "subdivision": "", "days": "2026-12-24", **week}
    url = f"/t/acme/settings/calendars/{calendar.pk}/"
    answer = page.post(url, sent, follow=True)
    assert "Levels of what waits follow; deadlines that run stay." in answer.content.decode()
