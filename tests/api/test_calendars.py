"""Calendars over HTTP: who may write them, what is no calendar, and what a rule makes of one."""

from typing import Any

import pytest

from approvals.models import Calendar
from tenants import ids
from tenants.models import AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.api.test_policies import get, read, send
from tests.cast.people import Key, make_tenant

OFFICE = [["09:00", "17:00"]]
BERLIN: dict[str, Any] = {
    "name": "Berlin",
    "zone": "Europe/Berlin",
    "week": {"monday": [["08:00", "12:00"], ["13:00", "24:00"]], "tuesday": [["00:00", "04:00"]]},
    "country": "DE",
    "subdivision": "BE",
    "days": [{"date": "2026-12-24", "name": "Christmas Eve", "hours": [["09:00", "12:00"]]}],
}


def test_a_tenant_begins_with_working_hours_in_its_own_zone(acme: Tenant, ravi_key: Key) -> None:
    (first,) = get(ravi_key, "/calendars")["items"]
    assert (first["name"], first["zone"], first["default"]) == ("Working hours", "", True)
    assert [first["week"][day] for day in ("monday", "friday", "sunday")] == [OFFICE, OFFICE, []]


@pytest.mark.django_db
@pytest.mark.parametrize(("locale", "name"), [("en", "Working hours"), ("zh-hans", "工作时间")])
def test_the_first_calendar_is_named_in_the_language_of_the_organisation(locale: str, name: str) -> None:
    tenant = make_tenant("huanqiu", locale=locale)
    with scope(tenant.pk):
        assert Calendar.objects.get().name == name


def test_a_default_without_hours_on_a_working_day_is_warned_of(acme: Tenant, ravi_key: Key) -> None:
    assert [each["warnings"] for each in get(ravi_key, "/calendars")["items"]] == [[]]
    made = read(send(ravi_key, "post", "/calendars", BERLIN))
    assert made["warnings"] == []
    (words,) = read(send(ravi_key, "patch", f"/calendars/{made['id']}", {"default": True}))["warnings"]
    assert "no hours on some of Monday to Friday" in words
    whole = dict.fromkeys(("monday", "tuesday", "wednesday", "thursday", "friday"), OFFICE)
    assert read(send(ravi_key, "patch", f"/calendars/{made['id']}", {"week": whole}))["warnings"] == []


def test_a_calendar_is_made_read_changed_and_archived(acme: Tenant, ravi_key: Key) -> None:
    response = send(ravi_key, "post", "/calendars", BERLIN)
    made = read(response)
    assert response.status_code == 201
    assert {name: made[name] for name in ("name", "zone", "country", "subdivision", "default")} == {
        "name": "Berlin",
        "zone": "Europe/Berlin",
        "country": "DE",
        "subdivision": "BE",
        "default": False,
    }
    assert made["days"] == BERLIN["days"]
    assert made["week"]["wednesday"] == []
    url = f"/calendars/{made['id']}"
    assert "Women's Day" in [each["name"] for each in get(ravi_key, url)["holidays"]]
    changed = read(send(ravi_key, "patch", url, {"subdivision": "BW", "default": True}))
    assert (changed["subdivision"], changed["default"], changed["days"]) == ("BW", True, BERLIN["days"])
    assert [each["default"] for each in get(ravi_key, "/calendars")["items"]] == [True, False]
    assert send(ravi_key, "delete", url).status_code == 422
    other = get(ravi_key, "/calendars")["items"][1]["id"]
    assert send(ravi_key, "delete", f"/calendars/{other}").status_code == 204
    assert get(ravi_key, f"/calendars/{other}")["status"] == 404
    with scope(acme.pk):
        actions = AuditEntry.objects.filter(action__startswith="calendar.").order_by("seq")
        assert [each.action for each in actions] == ["calendar.created", "calendar.changed", "calendar.archived"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "Working hours"}, "name"),
        ({"zone": "Europe/Atlantis"}, "zone"),
        ({"zone": 1}, "zone"),
        ({"week": {}}, "week"),
        ({"week": {"monday": []}}, "week"),
        ({"week": {"Montag": OFFICE}}, "week"),
        ({"week": {"monday": [["17:00", "09:00"]]}}, "week"),
        ({"week": {"monday": [["09:00", "09:00"]]}}, "week"),
        ({"week": {"monday": [["09:00", "12:00"], ["11:00", "13:00"]]}}, "week"),
        ({"week": {"monday": [["9:00", "12:00"]]}}, "week"),
        ({"week": {"monday": [["09:00", "24:30"]]}}, "week"),
        ({"week": {"monday": "09:00"}}, "week"),
        ({"week": [OFFICE] * 7}, "week"),
        ({"country": "ZZ"}, "country"),
        ({"country": ["DE"]}, "country"),
        ({"subdivision": "CA"}, "subdivision"),
        ({"country": "", "subdivision": "BE"}, "subdivision"),
        ({"days": [{"date": "24.12.2026"}]}, "days"),
        ({"days": [{"date": "2026-02-30"}]}, "days"),
        ({"days": [{"date": "9999-12-31"}]}, "days"),
        ({"days": [{"date": "2026-12-24"}, {"date": "2026-12-24"}]}, "days"),
        ({"days": [{"date": "2026-12-24", "off": True}]}, "days"),
        ({"days": "2026-12-24"}, "days"),
    ],
)
def test_what_is_no_calendar_is_refused_by_its_field(
    acme: Tenant, ravi_key: Key, change: dict[str, Any], field: str
) -> None:
    response = send(ravi_key, "post", "/calendars", {**BERLIN, **change})
    told = read(response)
    assert (response.status_code, told["code"]) == (422, "invalid_calendar")
    assert [each["field"] for each in told["errors"]] == [field]
    with scope(acme.pk):
        assert Calendar.objects.count() == 1


def test_only_an_admin_writes_calendars(acme: Tenant, alice_key: Key, mona_key: Key, stranger_key: Key) -> None:
    for key in (alice_key, mona_key):
        assert send(key, "post", "/calendars", BERLIN).status_code == 403
    first = get(alice_key, "/calendars")["items"][0]["id"]
    assert send(alice_key, "patch", f"/calendars/{first}", {"name": "Mine"}).status_code == 403
    assert send(mona_key, "delete", f"/calendars/{first}").status_code == 403
    assert send(stranger_key, "patch", f"/calendars/{first}", {"name": "Mine"}).status_code == 404
    assert get(stranger_key, "/calendars")["items"][0]["id"] != first


def test_a_rule_names_a_calendar_that_there_is(acme: Tenant, ravi_key: Key, alice: Member) -> None:
    made = read(send(ravi_key, "post", "/calendars", BERLIN))
    written = read(send(ravi_key, "post", "/policies", {"name": "R", "working_time": True, "calendar": "Berlin"}))
    assert written["calendar"] == made["id"]
    refused = read(send(ravi_key, "post", "/policies", {"name": "S", "calendar": str(ids.new())}))
    assert [each["field"] for each in refused["errors"]] == ["calendar"]
    body = {"name": "E", "levels": [{"after": 60, "members": [alice.email]}]}
    policy = read(send(ravi_key, "post", "/escalation-policies", {**body, "working_time": True, "calendar": "Berlin"}))
    assert (policy["working_time"], policy["calendar"]) == (True, made["id"])
