"""The pages of working hours, being on call and absences: who may open them, what they change, what they tell."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from approvals import absences, acts, clock, escalation_policies, rotations, week_texts, working_hours
from approvals.models import Calendar, EscalationPolicy, Rotation, RotationOverride
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor, make_member
from tests.cast.requests import WORKER, group, park, rule
from tests.db.test_on_call import on_call_after, rotation
from tests.web.test_settings_pages import browser

BASE = "/t/acme/settings/"
HOURS = {"monday": "09:00–12:00, 13:00–17:00", "tuesday": "9:00-17:00", "saturday": ""}


def calendar_form(**changes: Any) -> dict[str, Any]:
    days = "2026-12-24 Christmas Eve 09:00–12:00\n2026-12-31"
    return {
        "name": "Berlin",
        "zone": "Europe/Berlin",
        "country": "DE",
        "subdivision": "BE",
        "days": days,
        **HOURS,
    } | changes


def rotation_form(*people: Member, **changes: Any) -> dict[str, Any]:
    places = {f"member{number}": str(each.pk) for number, each in enumerate(people, start=1)}
    day = (clock.now() - timedelta(hours=1)).date().isoformat()
    plain = {"name": "Nights", "every": "week", "handover": "00:00", "zone": "UTC", "first_day": day}
    return {**plain, **places, "member4": ""} | changes


def test_an_admin_makes_and_changes_a_calendar(acme: Tenant, ravi: Member) -> None:
    page = browser(ravi)
    assert page.get(f"{BASE}calendars/").status_code == 200
    assert page.post(f"{BASE}calendars/", calendar_form()).status_code == 303
    with scope(acme.pk):
        made = Calendar.objects.get(name="Berlin")
        assert working_hours.written(made)["week"]["monday"] == [["09:00", "12:00"], ["13:00", "17:00"]]
        assert working_hours.written(made)["week"]["tuesday"] == [["09:00", "17:00"]]
        assert [each["name"] for each in made.days] == ["Christmas Eve", ""]
    url = f"{BASE}calendars/{made.pk}/"
    shown = page.get(url).content.decode()
    assert "09:00–12:00, 13:00–17:00" in shown
    assert "2026-12-24 Christmas Eve 09:00–12:00" in shown
    assert page.post(url, calendar_form(name="Kontor", default="on")).status_code == 303
    with scope(acme.pk):
        assert Calendar.objects.get(is_default=True).name == "Kontor"
    assert page.post(f"{url}archive/").status_code == 422
    with scope(acme.pk):
        other = Calendar.objects.get(is_default=False)
    assert page.post(f"{BASE}calendars/{other.pk}/archive/").status_code == 303
    assert page.get(f"{BASE}calendars/{other.pk}/").status_code == 404


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"monday": "nine to five"}, "monday"),
        ({"monday": "17:00-09:00"}, "monday"),
        ({"monday": "", "tuesday": ""}, "monday"),
        ({"days": "tomorrow"}, "days"),
        ({"subdivision": "ZZ"}, "subdivision"),
        ({"name": "Working hours"}, "name"),
    ],
)
def test_what_is_no_calendar_is_said_at_its_field(
    acme: Tenant, ravi: Member, changes: dict[str, Any], field: str
) -> None:
    answer = browser(ravi).post(f"{BASE}calendars/", calendar_form(**changes))
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    with scope(acme.pk):
        assert Calendar.objects.count() == 1


def test_an_admin_makes_a_rotation_and_lets_somebody_step_in(
    acme: Tenant, ravi: Member, mona: Member, alice: Member, bo: Member
) -> None:
    page = browser(ravi)
    assert page.post(f"{BASE}rotations/", rotation_form(alice, bo)).status_code == 303
    with scope(acme.pk):
        row = Rotation.objects.get()
    url = f"{BASE}rotations/{row.pk}/"
    assert "<b>Alice is on call</b>" in page.get(url).content.decode()
    assert page.post(f"{url}edit/", rotation_form(bo, alice)).status_code == 303
    assert "<b>Bo is on call</b>" in page.get(url).content.decode()
    until = (clock.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    manager = browser(mona)
    assert manager.post(f"{url}override/", {"member": str(alice.pk), "until": until}).status_code == 303
    assert "<b>Alice is on call</b>" in manager.get(url).content.decode()
    assert manager.post(f"{url}override/", {"member": str(alice.pk), "until": "2020-01-01T00:00"}).status_code == 422
    with scope(acme.pk):
        made = RotationOverride.objects.get()
    assert manager.post(f"{url}override/{made.pk}/end/").status_code == 303
    assert "<b>Bo is on call</b>" in manager.get(url).content.decode()
    assert page.post(f"{url}archive/").status_code == 303
    assert page.get(url).status_code == 404


def test_what_is_no_rotation_is_said_at_its_field(acme: Tenant, ravi: Member, alice: Member) -> None:
    for changes, field in (({"member1": ""}, "member1"), ({"handover": "9"}, "handover"), ({"zone": "Mars"}, "zone")):
        answer = browser(ravi).post(f"{BASE}rotations/", rotation_form(alice, **changes))
        assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("calendars/", "get", {"admin"}),
        ("calendars/", "post", {"admin"}),
        ("rotations/", "get", {"admin", "manager", "reviewer"}),
        ("rotations/", "post", {"admin"}),
        ("rotations/{row}/", "get", {"admin", "manager", "reviewer"}),
        ("rotations/{row}/edit/", "get", {"admin"}),
        ("rotations/{row}/edit/", "post", {"admin"}),
        ("rotations/{row}/archive/", "post", {"admin"}),
        ("rotations/{row}/override/", "post", {"admin", "manager"}),
    ],
)
def test_each_door_opens_to_its_roles_alone(
    acme: Tenant, bo: Member, path: str, method: str, allowed: set[str]
) -> None:
    row = rotation(acme, bo)
    for role in ("reviewer", "manager", "admin"):
        member = make_member(acme, role.title(), role)
        answer = getattr(browser(member), method)(BASE + path.format(row=row.pk))
        assert (answer.status_code != 403) == (role in allowed), role
        assert answer.status_code in (200, 303, 403, 422)


def test_a_rotation_that_is_asked_is_not_archived(acme: Tenant, ravi: Member, bo: Member) -> None:
    row = rotation(acme, bo)
    on_call_after(acme, row)
    answer = browser(ravi).post(f"{BASE}rotations/{row.pk}/archive/")
    assert answer.status_code == 422
    assert "Then on call" in answer.content.decode()


def test_an_escalation_policy_asks_a_rotation_in_working_time(acme: Tenant, ravi: Member, bo: Member) -> None:
    row = rotation(acme, bo)
    sent = {
        "name": "Late",
        "repeats": "0",
        "level1.after": "30 min",
        "level1.rotations": [str(row.pk)],
        "working_time": "on",
        "calendar": "",
    }
    page = browser(ravi)
    assert page.post(f"{BASE}escalation/", sent).status_code == 303
    with scope(acme.pk):
        made = EscalationPolicy.objects.get()
        assert (made.levels[0]["rotations"], made.working_time, made.calendar) == ([str(row.pk)], True, None)
    shown = page.get(f"{BASE}escalation/{made.pk}/").content.decode()
    assert "On call: Nights" in shown
    assert "Counted in the hours of the default calendar." in shown


def test_the_request_says_who_is_away_who_stands_in_and_who_is_on_call(
    acme: Tenant, alice: Member, bo: Member, ravi: Member
) -> None:
    chen = make_member(acme, "Chen", "reviewer")
    row = rotation(acme, bo)
    team = group(acme, "Team", alice, bo)
    rule(acme, alice, of=[{"group": team.name}], escalation_policy=on_call_after(acme, row))
    with scope(acme.pk):
        until = clock.now() + timedelta(days=2)
        absences.delegate(actor=actor(alice), member=alice, to=chen, starts=None, ends=until)
    request = park(acme)
    page = browser(chen).get(f"/t/acme/requests/{request.pk}/").content.decode()
    assert "Alice is away until" in page
    assert "Chen stands in." in page
    assert "Bo is on call until" in page
    assert "You are away until" in browser(alice).get(f"/t/acme/requests/{request.pk}/").content.decode()
    people = browser(ravi).get(f"{BASE}people/").content.decode()
    assert "away until" in people
    assert "Chen stands in" in people


def test_the_request_says_by_which_clock_its_time_counts(acme: Tenant, alice: Member, bo: Member) -> None:
    with scope(acme.pk):
        week = {day: [["00:00", "24:00"]] for day in week_texts.WEEKDAYS}
        working_hours.create(actor=WORKER, name="Auckland", zone="Pacific/Auckland", week=week)
        policy = escalation_policies.create(
            actor=WORKER, name="Late", levels=[{"after": 60, "members": [bo.email]}], working_time=True,
        )  # fmt: skip
    rule(acme, alice, working_time=True, calendar="Auckland", escalation_policy=str(policy.pk))
    request = park(acme)
    page = browser(alice).get(f"/t/acme/requests/{request.pk}/").text
    assert "The time it is open counts working hours: Auckland (Pacific/Auckland)." in page
    assert "The levels count working hours by the clock of UTC." in page


def test_the_request_says_since_when_a_level_is_asked_and_not_when_it_would_have_been(
    acme: Tenant, alice: Member, bo: Member, mona: Member
) -> None:
    row = rotation(acme, bo)
    team = group(acme, "Team", alice)
    rule(acme, alice, of=[{"group": team.name}], escalation_policy=on_call_after(acme, row, after=40_000))
    request = park(acme)
    page = browser(alice)
    url = f"/t/acme/requests/{request.pk}/"
    ladder = page.get(url).context["view"].ladder
    assert (ladder[1].reached, ladder[1].at) == (False, request.opened_at + timedelta(seconds=40_000))
    acts.escalate(request.pk, tenant=acme.pk, actor=actor(mona), channel="page")
    ladder = page.get(url).context["view"].ladder
    assert ladder[1].reached
    assert ladder[1].at < clock.now()
    assert ", from " not in page.get(url).content.decode().partition("On call: Nights")[2].partition("</li>")[0]


def test_a_rotation_that_has_not_begun_says_when_it_begins(
    acme: Tenant, ravi: Member, alice: Member, bo: Member
) -> None:
    row = rotation(acme, bo, first_day="2027-06-07", handover="09:00")
    page = browser(ravi)
    for url in (f"{BASE}rotations/", f"{BASE}rotations/{row.pk}/"):
        text = page.get(url).text
        assert re.search(r"Nobody is on call\. Begins on <time[^>]*>7 Jun 2027 \d\d:\d\d</time>\.", text)
        assert "is on call</b>" not in text
    team = group(acme, "Team", alice)
    rule(acme, alice, of=[{"group": team.name}], escalation_policy=on_call_after(acme, row))
    asked = browser(alice).get(f"/t/acme/requests/{park(acme).pk}/").text
    assert re.search(r"Nobody is on call\. Begins on <time[^>]*>7 Jun 2027", asked)


def test_a_rules_page_shows_the_hours_with_too_few_people(
    acme: Tenant, ravi: Member, alice: Member, bo: Member
) -> None:
    group(acme, "Team", alice)
    with scope(acme.pk):
        rotations.create(
            actor=WORKER, name="Other", zone="UTC", every="day", handover="09:00", first_day="2026-11-02",
            members=[str(bo.pk)],
        )  # fmt: skip
        escalation_policies.create(actor=WORKER, name="Late", levels=[{"after": 60, "rotations": ["Other"]}])
    sent = {
        "name": "R", "tools": "*", "agents": "*", "outcome": "require_approval", "approvals": "1",
        "answers": ["approve", "reject"], "response_timeout": "2 h", "on_timeout": "expire", "do": "trial",
    }  # fmt: skip
    with scope(acme.pk):
        team = str(alice.pk)
    tried = browser(ravi).post(f"{BASE}policies/new/", {**sent, "of": [f"member:{team}"]}).content.decode()
    assert "nobody could answer. A request made by " in tried
    assert "of the next two weeks have too few people" in tried
    with scope(acme.pk):
        late = str(EscalationPolicy.objects.get().pk)
    covered = (
        browser(ravi)
        .post(f"{BASE}policies/new/", {**sent, "of": [f"member:{team}"], "escalation_policy": late})
        .content.decode()
    )
    assert "At every hour of the next two weeks enough people could answer." in covered


def test_pages_of_time_ask_a_fixed_number_of_queries(
    acme: Tenant, ravi: Member, alice: Member, bo: Member, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        rotation(acme, alice, bo, name=f"Nights {number}")
    page: Client = browser(ravi)
    page.get(f"{BASE}rotations/")
    with django_assert_max_num_queries(20):
        page.get(f"{BASE}rotations/")
    with django_assert_max_num_queries(20):
        page.get(f"{BASE}calendars/")


def test_a_default_calendar_without_hours_on_a_working_day_is_warned_of(acme: Tenant, ravi: Member) -> None:
    page = browser(ravi)
    words = "It is the default and has no hours on some of Monday to Friday"
    assert words not in page.get(f"{BASE}calendars/").text
    assert page.post(f"{BASE}calendars/", calendar_form(default="on")).status_code == 303
    assert words in page.get(f"{BASE}calendars/").text
