"""An admin in the settings: every page on every screen, and a rule from the first word to live."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from approvals import channel_people, channels, escalation_policies, rotations, rules, working_hours
from approvals.models import ApprovalRequest, Channel, EscalationPolicy
from runs.models import AgentVersion, ToolDefinition
from tenants import agents
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.agents import ledger
from tests.cast import runs
from tests.cast.people import actor
from tests.cast.plays import Play
from tests.cast.requests import group
from tests.harness.browser import PHONE, WIDE
from tests.journeys.conftest import OpenAs

pytestmark = pytest.mark.journey
BASE = "/t/acme/settings/"
PAGES = (
    "policies/",
    "policies/new/",
    "escalation/",
    "agents/",
    "people/",
    "groups/",
    "organisation/",
    "keys/",
    "absence/",
    "webhooks/",
    "channels/",
    "deliveries/",
    "notices/",
    "calendars/",
    "rotations/",
)


@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["390", "1280"])
def test_every_settings_page_is_accessible(
    viewport: dict[str, int],
    open_as: OpenAs,
    accessible: Callable[[Page], None],
    acme: Tenant,
    ravi: Member,
    alice: Member,
) -> None:
    group(acme, "Refund reviewers", alice)
    group(acme, "Nobody yet")
    ToolDefinition.objects.create(fingerprint="f1", name="refund", definition={"title": "Refund", "risk": "medium"})
    AgentVersion.objects.create(agent="refund-desk", version="3", model="scripted", tools=["f1"])
    with scope(acme.pk):
        agents.switch("refund-desk", actor=actor(ravi), enabled=True, restricted=True)
        rule = rules.create_rule(actor=actor(ravi), name="Refunds", when="args.amount > 500", approvals=2)
        week = {"monday": [["09:00", "12:00"], ["13:00", "17:00"]]}
        calendar = working_hours.create(actor=actor(ravi), name="Berlin", zone="Europe/Berlin", country="DE", week=week)
        nights = rotations.create(
            actor=actor(ravi), name="Nights", every="week", zone="UTC", handover="09:00", first_day="2026-11-02",
            members=[str(alice.pk)],
        )  # fmt: skip
        escalation_policies.create(
            actor=actor(ravi),
            name="Standard",
            levels=[{"after": 60, "groups": ["Refund reviewers"]}, {"after": 120, "rotations": ["Nights"]}],
        )
        escalation = EscalationPolicy.objects.get()
        for number in range(2):
            hook = channels.add_webhook(actor=actor(ravi), url="https://hooks.example/x", events=["run.failed"]).channel
            url = f"slack://A/B/C{number}"
            room = channels.add_chat(actor=actor(ravi), kind="slack", name=f"room{number}", url=url).channel
            channel_people.bind(room, actor=actor(ravi), member=alice.email, external_id="U1")
            channels.trial(room, actor=actor(ravi))
        Channel.objects.filter(pk=hook.pk).update(enabled=False, off_because="410")
        Channel.objects.filter(pk=room.pk).update(failures=3, failing_since=hook.created_at, last_error="500")
    page = open_as(ravi, f"{BASE}policies/", viewport)
    for path in (
        *PAGES,
        "agents/refund-desk/people/",
        f"policies/{rule.pk}/",
        f"escalation/{escalation.pk}/",
        f"calendars/{calendar.pk}/",
        f"rotations/{nights.pk}/",
        f"rotations/{nights.pk}/edit/",
        "../audit/?entry=3",
    ):
        page.goto(BASE + path)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], path
        folded = "[...document.querySelectorAll('.folds')]"
        assert page.evaluate(f"{folded}.every((each) => each.scrollWidth <= each.parentElement.clientWidth)"), path
        boxes = "[...document.querySelectorAll('.scroll:has(.table)')]"
        assert page.evaluate(f"{boxes}.every((each) => each.scrollWidth <= each.clientWidth)"), path
    page.goto(f"{BASE}policies/{rule.pk}/")
    cell = page.locator("#coverage-hint ~ .scroll td").first
    assert cell.evaluate("(each) => getComputedStyle(each).display") == (
        "flow-root" if viewport == PHONE else "table-cell"
    )


def test_a_rule_is_written_tried_and_made_live(
    open_as: OpenAs, parked: ApprovalRequest, ravi: Member, complaints: Any
) -> None:
    complaints.allow("422")
    page = open_as(ravi, f"{BASE}policies/")
    page.get_by_role("link", name="New rule").click()
    page.get_by_label("Name").fill("Refunds over 500")
    page.get_by_label("Tools", exact=True).fill("refund")
    page.locator("#id_when").fill("args.amount >")
    page.get_by_role("button", name="Try it on past calls").click()
    expect(page.get_by_role("alert")).to_be_focused()
    page.locator("#id_when").fill("args.amount > 500")
    page.get_by_label("How many must approve").fill("2")
    page.get_by_role("button", name="Try it on past calls").click()
    expect(page.get_by_role("heading", name="Trial on past calls")).to_be_visible()
    expect(page.get_by_role("link", name="Refund 1240.00 EUR for order A-1042").or_(
        page.get_by_role("rowheader", name="Refund 1240.00 EUR for order A-1042")).first).to_be_visible()  # fmt: skip
    page.get_by_role("button", name="Make it live").click()
    expect(page.get_by_role("alert")).to_be_focused()
    page.get_by_label("Make it live although").check()
    page.get_by_role("button", name="Make it live").click()
    expect(page.get_by_text(re.compile("^Version 1 is live since"))).to_be_visible()


def test_a_risk_is_raised_a_rule_made_live_and_a_new_run_parks_under_it(
    workers: Any, open_as: OpenAs, acme: Tenant, ravi: Member, alice: Member, bo: Member
) -> None:
    before = runs.start(acme, [runs.call("pay", amount=300)])
    runs.until(acme, before, "succeeded")
    page = open_as(ravi, f"{BASE}agents/")
    page.get_by_label("Risk of pay").select_option("critical")
    page.get_by_role("button", name="Save pay", exact=True).click()
    expect(page.get_by_role("row", name=re.compile("^pay")).get_by_text("raised here")).to_be_visible()
    page.get_by_role("link", name="Rules", exact=True).click()
    page.get_by_role("link", name="New rule").click()
    page.get_by_label("Name").fill("Large payments")
    page.get_by_label("Tools", exact=True).fill("pay")
    page.locator("#id_when").fill("args.amount > 100")
    page.get_by_role("button", name="Try it on past calls").click()
    expect(page.get_by_role("heading", name="Trial on past calls")).to_be_visible()
    page.get_by_label("Make it live although").check()
    page.get_by_role("button", name="Make it live").click()
    expect(page.get_by_text(re.compile("^Version 1 is live since"))).to_be_visible()

    run = runs.start(acme, [runs.call("pay", amount=300)])
    runs.until(acme, run, "waiting_approval")
    (request,) = runs.requests(acme, run)
    assert request.risk == "critical"
    assert [each["name"] for each in request.requirement["trace"]] == ["Large payments"]
    assert request.requirement["trace"][0]["values"] == [["args.amount", "300"]]
    assert ledger.acts(run) == []
    under = runs.start(acme, [runs.call("pay", amount=100)])
    runs.until(acme, under, "waiting_approval")
    (default,) = runs.requests(acme, under)
    assert [each["name"] for each in default.requirement["trace"]] == ["Default"]


def test_a_manager_stops_an_agent_and_starts_it_again(
    open_as: OpenAs, acme: Tenant, mona: Member, parked_run: Play, complaints: Any
) -> None:
    page = open_as(mona, f"{BASE}agents/")
    page.get_by_role("button", name="Stop clerk").click()
    expect(page.get_by_text("clerk is stopped. Its runs are paused; what is in hand ends.")).to_be_visible()
    assert parked_run.fresh().status == "paused"
    page.get_by_role("button", name="Start again clerk").click()
    expect(page.get_by_text("clerk is started again.")).to_be_visible()
    assert parked_run.fresh().status == "queued"


def test_a_form_works_without_script_and_keeps_what_was_typed(open_as: OpenAs, ravi: Member, complaints: Any) -> None:
    complaints.allow("422")
    page = open_as(ravi, f"{BASE}policies/new/", java_script_enabled=False)
    page.get_by_label("Name").fill("Kept")
    page.get_by_label("It ends after").fill("soon")
    page.get_by_role("button", name="Keep as draft").click()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_label("Name")).to_have_value("Kept")
    expect(page.get_by_label("It ends after")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("It ends after").fill("2 h")
    page.get_by_role("button", name="Keep as draft").click()
    expect(page.get_by_text("The draft of “Kept” is kept.")).to_be_visible()
