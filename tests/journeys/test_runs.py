"""A manager at work: what holds runs up, what stops them, and what came of a lost call."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from runs import commands
from tenants import events, members
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.plays import Play
from tests.harness.browser import PHONE, WIDE
from tests.journeys.conftest import OpenAs

pytestmark = pytest.mark.journey


def url(play: Play) -> str:
    return f"/t/acme/runs/{play.id}/"


@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["390", "1280"])
def test_every_page_of_a_manager_is_accessible(
    viewport: dict[str, int],
    open_as: OpenAs,
    accessible: Callable[[Page], None],
    parked_run: Play,
    unknown_run: Play,
    mona: Member,
) -> None:
    page = open_as(mona, "/t/acme/runs/", viewport)
    for path in ("/t/acme/runs/", url(parked_run), url(unknown_run), "/t/acme/insights/", "/t/acme/outcomes/"):
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        boxes = "[...document.querySelectorAll('.scroll:has(.table)')]"
        assert page.evaluate(f"{boxes}.every((each) => each.scrollWidth <= each.clientWidth)"), path
    for answer in ("It happened", "It did not happen, leave it", "It did not happen, do it again"):
        page.get_by_role("radio", name=answer).check()
        accessible(page)


@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["390", "1280"])
def test_a_title_without_a_space_hides_no_column(
    viewport: dict[str, int], open_as: OpenAs, play: Callable[..., Play], mona: Member
) -> None:
    run = play(title="Donaudampfschifffahrtsgesellschaft" * 5)
    page = open_as(mona, "/t/acme/runs/", viewport)
    box = page.locator(".scroll:has(.table)")
    for path in ("/t/acme/runs/", url(run)):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], path
        assert all(each.evaluate("(each) => each.scrollWidth <= each.clientWidth") for each in box.all()), path


def test_a_run_is_told_while_it_happens(open_as: OpenAs, parked_run: Play, mona: Member) -> None:
    page = open_as(mona, url(parked_run))
    expect(page.get_by_role("button", name="Stop further steps")).to_be_visible()
    with scope(parked_run.tenant.pk):
        commands.cancel(parked_run.run.pk, actor=members.actor_of(mona))
    expect(page.get_by_text(re.compile("Mona stopped further steps at"))).to_be_visible()
    expect(page.get_by_role("button", name="Stop further steps")).to_have_count(0)
    expect(page.get_by_text("Not run: the run was stopped.")).to_be_visible()


def test_two_clicks_stop_a_run_once(open_as: OpenAs, parked_run: Play, mona: Member, complaints: Any) -> None:
    complaints.allow("409")
    page = open_as(mona, url(parked_run))
    page.get_by_role("button", name="Stop further steps").dblclick(delay=60)
    expect(page.get_by_text(re.compile("Mona stopped further steps at"))).to_be_visible()
    with scope(parked_run.tenant.pk):
        names = [row.name for row in events.after(parked_run.subject, 0, 100)]
    assert names.count("run.cancelled") == 1


def test_back_shows_a_whole_page_with_the_present_state(open_as: OpenAs, parked_run: Play, mona: Member) -> None:
    page = open_as(mona, url(parked_run))
    page.get_by_role("button", name="Stop further steps").click()
    expect(page.get_by_text(re.compile("Mona stopped further steps at"))).to_be_visible()
    page.goto("/t/acme/runs/")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Broken cup")
    expect(page.get_by_role("navigation", name="Main")).to_be_attached()
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")


def test_a_form_older_than_the_sign_in_says_so_and_leads_back(
    open_as: OpenAs, parked_run: Play, mona: Member, complaints: Any
) -> None:
    complaints.allow("403")
    page = open_as(mona, url(parked_run))
    other = Client()
    other.force_login(mona.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    page.context.clear_cookies(name="csrftoken")
    page.context.add_cookies(
        [
            {"name": "sessionid", "value": other.cookies["sessionid"].value, "url": page.url},
            {"name": "csrftoken", "value": "a" * 32, "url": page.url},
        ]
    )
    page.get_by_role("button", name="Stop further steps").click()
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    assert parked_run.fresh().status == "waiting_approval"
    page.get_by_role("link").filter(has_text=re.compile("again|back", re.IGNORECASE)).first.click()
    expect(page).to_have_url(re.compile(f"{parked_run.id}/$"))
    page.get_by_role("button", name="Stop further steps").click()
    expect(page.get_by_text(re.compile("Mona stopped further steps at"))).to_be_visible()


def test_a_lost_call_is_settled_with_the_keyboard_alone(
    open_as: OpenAs, unknown_run: Play, acme: Tenant, mona: Member
) -> None:
    page = open_as(mona, "/t/acme/outcomes/")
    expect(page.get_by_role("button", name=re.compile("^Record"))).to_have_count(0)
    page.get_by_role("radio", name="It happened").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("Seen in the portal.")
    page.keyboard.press("Tab")
    page.keyboard.type("L-77")
    page.keyboard.press("Tab")
    expect(page.get_by_role("checkbox", name="There is no result to give.")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Record: it happened")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Nothing to settle")).to_be_visible()
    assert unknown_run.fresh().status == "queued"


def test_the_list_of_runs_follows_their_states(open_as: OpenAs, parked_run: Play, mona: Member) -> None:
    page = open_as(mona, "/t/acme/runs/")
    row = page.locator(f"tr[data-id='{parked_run.id}']")
    expect(row).to_contain_text("waits for people")
    with scope(parked_run.tenant.pk):
        commands.cancel(parked_run.run.pk, actor=members.actor_of(mona))
    expect(row).to_contain_text("stopped")


def test_the_empty_desk_shows_a_lost_call_as_soon_as_it_is_lost(
    open_as: OpenAs, play: Callable[..., Play], mona: Member
) -> None:
    page = open_as(mona, "/t/acme/outcomes/")
    expect(page.get_by_role("heading", name="Nothing to settle")).to_be_visible()
    run = play(title="Lost answer").begin()
    (label,) = run.wants(("label", {"order": "A-2", "card": "4111"}))
    run.lost(label)
    expect(page.get_by_role("heading", name="Make a label for A-2")).to_be_visible()


def test_a_note_in_hand_on_the_desk_stays_while_another_call_is_lost(
    open_as: OpenAs, play: Callable[..., Play], unknown_run: Play, mona: Member
) -> None:
    page = open_as(mona, "/t/acme/outcomes/")
    page.get_by_role("radio", name="It happened").check()
    page.get_by_label("How do you know").fill("I asked the carrier.")
    run = play(title="Another").begin()
    (label,) = run.wants(("label", {"order": "A-9", "card": "4111"}))
    run.lost(label)
    expect(page.get_by_role("link", name="Make a label for A-9")).to_be_visible()
    expect(page.locator("#open")).to_contain_text("2 to settle")
    expect(page.get_by_label("How do you know")).to_have_value("I asked the carrier.")
