"""An admin in the settings: every page on every screen, and a rule from the first word to live."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from approvals import escalation_policies, rules
from approvals.models import ApprovalRequest
from runs.models import AgentVersion, ToolDefinition
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import group
from tests.harness.browser import PHONE, WIDE
from tests.journeys.conftest import OpenAs

pytestmark = pytest.mark.journey
BASE = "/t/acme/settings/"
SCREENS = [(PHONE, "light"), (PHONE, "dark"), (WIDE, "light"), (WIDE, "dark")]


@pytest.mark.parametrize(("viewport", "scheme"), SCREENS)
def test_every_settings_page_is_accessible(
    viewport: dict[str, int],
    scheme: Any,
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
        rule = rules.create_rule(actor=actor(ravi), name="Refunds", when="args.amount > 500", approvals=2)
        escalation_policies.create(
            actor=actor(ravi), name="Standard", levels=[{"after": 60, "groups": ["Refund reviewers"]}]
        )
    page = open_as(ravi, f"{BASE}policies/", viewport, color_scheme=scheme)
    for path in ("policies/", f"policies/{rule.pk}/", "policies/new/", "escalation/", "agents/", "people/", "groups/"):
        page.goto(BASE + path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], path


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
    page.get_by_label("How many approve").fill("2")
    page.get_by_role("button", name="Try it on past calls").click()
    expect(page.get_by_role("heading", name="Trial on past calls")).to_be_visible()
    expect(page.get_by_role("link", name="Refund 1240.00 EUR for order A-1042").or_(
        page.get_by_role("rowheader", name="Refund 1240.00 EUR for order A-1042")).first).to_be_visible()  # fmt: skip
    page.get_by_role("button", name="Make it live").click()
    expect(page.get_by_text(re.compile("^Version 1 is live since"))).to_be_visible()
