"""The demo's pages in a real browser: what strangers wrote stays text, and axe finds nothing."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page

from examples.refund_desk import place
from tests.web.refund_desk.conftest import Service, Start
from tests.web.refund_desk.test_ledger import pay
from tests.web.refund_desk.test_mail_sink import HOSTILE, message, send

pytestmark = pytest.mark.journey


@pytest.fixture
def sheet(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    opened = context.new_page()
    yield opened
    context.close()


def test_a_hostile_mail_does_nothing_in_the_reviewers_browser(sheet: Page, mail: Service) -> None:
    made = message(Subject=HOSTILE)
    made.clear_content()
    made.set_content(f"<img src=x onerror=\"document.title='owned'\">{HOSTILE}</pre>{HOSTILE}", subtype="html")
    send(made)
    for path in ("/", "/messages/1"):
        sheet.goto(place.url("mail") + path)
        assert sheet.title() != "owned"
        assert sheet.locator("main script, main img").count() == 0
    assert "<img src=x" in sheet.locator("pre").inner_text()


@pytest.mark.parametrize("name", ["ledger", "carrier", "mail", "form"])
def test_a_page_of_the_demo_is_accessible(
    name: str, sheet: Page, start: Start, accessible: Callable[[Page], None]
) -> None:
    modules = {"mail": "mailsink"}
    service = start(name, f"examples.refund_desk.{modules.get(name, name)}")
    fill(service)
    sheet.goto(place.url(name) + "/")
    accessible(sheet)


def fill(service: Service) -> None:
    """Something to see on each page."""
    match service.name:
        case "ledger":
            pay(service, "k1", note="refund \u202eRUE")
        case "mail":
            send(message(Subject="订单 A-1042"))
        case "carrier":
            label = {"shop": "acme", "order_id": "A-1042", "sender": "Maja"}
            assert httpx.post(place.url("carrier") + "/labels", json=label, trust_env=False).is_success
