"""The door: signing in, the second factor, one's own account, in both languages and on every screen."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from tenants.models import Member
from tests.cast.people import PASSWORD

pytestmark = pytest.mark.journey


def sign_in(page: Page, email: str, password: str = PASSWORD) -> None:
    page.goto("/accounts/login/?next=/accounts/2fa/")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_the_door_is_accessible_and_a_wrong_password_is_said_at_the_top(
    any_page: Page, accessible: Callable[[Page], None], alice: Member
) -> None:
    sign_in(any_page, alice.email, "wrong")
    expect(any_page.get_by_role("alert")).to_be_focused()
    expect(any_page.get_by_label("E-mail")).to_have_value(alice.email)
    accessible(any_page)


def test_a_link_to_a_request_says_that_opening_it_decided_nothing(page: Page) -> None:
    page.goto("/accounts/login/?next=/t/acme/requests/1/")
    expect(page.get_by_text("Opening the link decided nothing.")).to_be_visible()


def test_the_door_speaks_chinese_when_asked(page: Page, accessible: Callable[[Page], None]) -> None:
    page.goto("/accounts/login/")
    page.get_by_role("button", name="简体中文").click()
    expect(page.get_by_role("heading", name="登录")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "zh-hans"
    accessible(page)


def test_the_authenticator_app_is_set_up_from_a_picture_inside_the_page(
    any_page: Page, accessible: Callable[[Page], None], alice: Member
) -> None:
    sign_in(any_page, alice.email)
    accessible(any_page)
    any_page.get_by_role("link", name="Switch it on").click()
    if "reauthenticate" in any_page.url:
        any_page.get_by_label("Password").fill(PASSWORD)
        any_page.get_by_role("button", name="Confirm").click()
    expect(any_page.locator(".qr svg")).to_be_visible()
    expect(any_page.get_by_role("textbox", name="Secret")).to_have_value(re.compile(r"^[A-Z2-7]{16,}$"))
    accessible(any_page)


@pytest.mark.parametrize(
    "path", ["/accounts/password/reset/", "/accounts/password/reset/done/", "/accounts/signup/", "/nowhere/"]
)
def test_the_other_pages_outside_are_accessible(
    page: Page, accessible: Callable[[Page], None], complaints: object, path: str
) -> None:
    complaints.allow("404")  # type: ignore[attr-defined]
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    accessible(page)


def test_a_form_older_than_the_sign_in_is_refused_in_plain_words(alice: Member) -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post("/accounts/login/", {"login": alice.email, "password": PASSWORD})
    assert response.status_code == 403
    assert "Nothing was sent" in response.text
    assert "CSRF" not in response.text
