"""The whole way, with real workers and a real browser: from signing in to the mail that the customer gets."""

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from config.local import children
from examples.refund_desk import orders, place
from runs import commands
from runs.commands import Start
from runs.models import Run
from tenants import agents
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import PASSWORD
from tests.harness.browser import PHONE, WIDE
from tests.harness.workers import Workers
from tests.journeys.conftest import OpenAs
from tests.web.refund_desk.conftest import Service, said_by

pytestmark = pytest.mark.journey
CASE = '{"case": "1"}'
REFUND = "Refund 129.00 EUR for order A-1001"
SLOW = 30_000


@pytest.fixture
def shop(acme: Tenant, alice: Member, mona: Member, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tenant]:
    """Acme as the demo's shop: its ledger and its mailbox run, its orders lie in a file."""
    monkeypatch.setenv("LOCAL_DIR", str(tmp_path))
    orders.make()
    place.announce("form-keys", keys={}, shops={str(acme.pk): "acme"})
    services = [Service(name, module, _start(module)) for name, module in (("ledger", "ledger"), ("mail", "mailsink"))]
    for service in services:
        said_by(service.process, service.name)
    with scope(acme.pk):
        agents.switch("refund-desk", actor=COMMAND, enabled=True)
    yield acme
    for service in services:
        service.kill()


def _start(module: str) -> Any:
    words = [os.sys.executable, "-m", f"examples.refund_desk.{module}"]  # type: ignore[attr-defined]
    return children.start(words, on_parent_death=children.signal.SIGKILL, env=dict(os.environ), cwd=place.ROOT)


@pytest.fixture
def desk(shop: Tenant, own_workers: Callable[..., Workers]) -> Workers:
    """Workers that know the refund desk."""
    return own_workers(n=2, AGENT_MODULES="examples.refund_desk.agent", LOCAL_DIR=os.environ["LOCAL_DIR"])


def begin(shop: Tenant) -> Run:
    """The customer's case comes in, through nobody who could review it."""
    wanted = Start(agent="refund-desk", input=CASE, title="Cracked machine")
    with scope(shop.pk):
        return commands.start(wanted, actor=COMMAND)


def sign_in(page: Page, member: Member) -> None:
    page.goto("/")
    page.get_by_label("E-mail").fill(member.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/t/acme/inbox/$"))


def mailed() -> list[dict[str, Any]]:
    """What lies in the customer's mailbox."""
    with httpx.Client(base_url=place.url("mail"), trust_env=False) as client:
        items: list[dict[str, Any]] = client.get("/messages").json()["items"]
        return items


def paid() -> list[Any]:
    """What the ledger has paid: the only proof of it that counts."""
    with httpx.Client(base_url=place.url("ledger"), trust_env=False) as client:
        items: list[Any] = client.get("/refunds").json()["items"]
        return items


def by_mouse(page: Page, target: Locator) -> None:
    target.click()


def by_keyboard(page: Page, target: Locator) -> None:
    """Walk there with the Tab key alone, then press Enter, or Space on a radio."""
    kind = target.get_attribute("type")
    for _ in range(120):
        page.keyboard.press("Tab")
        if target.evaluate("(each) => each === document.activeElement"):
            page.keyboard.press("Space" if kind == "radio" else "Enter")
            return
    raise AssertionError(f"The Tab key does not lead to {target}.")


def answer(page: Page, title: str, act: Callable[[Page, Locator], None]) -> None:
    """From the inbox, where the request comes by itself, to its page and a yes."""
    link = page.get_by_role("link", name=re.compile(re.escape(title))).first
    expect(link).to_be_visible(timeout=SLOW)
    act(page, link)
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    expect(page.get_by_role("region", name="What the agent had seen")).to_contain_text("lookup_order")
    choose = page.get_by_role("radio", name="Approve")
    act(page, choose)
    expect(choose).to_be_checked()
    act(page, page.get_by_role("button", name=re.compile("^Approve:")))
    expect(page.get_by_text(re.compile("You approved this at"))).to_be_visible()


@pytest.mark.parametrize(
    ("viewport", "scheme", "act"),
    [(WIDE, "light", by_mouse), (PHONE, "dark", by_keyboard)],
    ids=["wide-light-mouse", "phone-dark-keyboard"],
)
def test_from_the_sign_in_to_the_mail(
    viewport: dict[str, int],
    scheme: str,
    act: Callable[[Page, Locator], None],
    new_page: Callable[..., Page],
    open_as: OpenAs,
    accessible: Callable[[Page], None],
    desk: Workers,
    shop: Tenant,
    alice: Member,
    mona: Member,
) -> None:
    page = new_page(viewport, color_scheme=scheme)
    sign_in(page, alice)
    expect(page.get_by_text(REFUND)).to_have_count(0)
    run = begin(shop)
    manager = open_as(mona, f"/t/acme/runs/{run.pk}/", viewport, color_scheme=scheme)
    answer(page, REFUND, act)
    expect(manager.get_by_text(re.compile("Approved by Alice"))).to_be_visible(timeout=SLOW)
    page.goto("/t/acme/inbox/")
    answer(page, "Your refund for order A-1001", act)
    expect(manager.get_by_text(re.compile("Succeeded at"))).to_be_visible(timeout=SLOW)
    expect(manager.get_by_text("Refunded 129.00 EUR for order A-1001 and told the customer.").first).to_be_visible()
    accessible(manager)
    accessible(page)
    assert len(paid()) == 1
    (mail,) = mailed()
    assert (mail["recipients"], mail["subject"]) == ("purchasing@nordlicht.example", "Your refund for order A-1001")


def test_the_way_works_with_the_socket_blocked(
    new_page: Callable[..., Page], desk: Workers, shop: Tenant, alice: Member
) -> None:
    page = new_page()
    page.route_web_socket(re.compile("/live/"), lambda socket: socket.close(code=1013))
    sign_in(page, alice)
    begin(shop)
    answer(page, REFUND, by_mouse)
    page.goto("/t/acme/inbox/")
    answer(page, "Your refund for order A-1001", by_mouse)
    expect(page.get_by_text("Connection lost.")).to_be_visible()
