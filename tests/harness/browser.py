"""A real browser, that fails the test for whatever it complains of."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import hypothesis.internal.observability  # noqa: F401  # See below.
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.harness import chromium
from tests.harness.live import LiveServer

# Hypothesis is imported before the browser is: its plugin would do so at the end of the run, when the collector may
# finish one of Playwright's greenlets inside the compiler, which Python 3.11 calls a SystemError.
# One browser a module, not one a run: while it is open, its event loop counts as running in the tests' own thread,
# where nothing that starts a loop of its own could then be tried.
PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
# A list that rings looks every three seconds at most, and a busy machine takes its time. No test asserts how long.
expect.set_options(timeout=20_000)
RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
COLOURS = {"type": "rule", "values": ["color-contrast"]}


@pytest.fixture(scope="module")
def browser(web_process: LiveServer) -> Iterator[Browser]:
    path = chromium.find()
    if not path:
        pytest.fail("No Chromium is found. `make test` fetches one; or set CHROMIUM to its path.", pytrace=False)
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        launched = playwright.chromium.launch(executable_path=path, args=arguments)
        yield launched
        launched.close()


class Complaints:
    """What a page's console said that it should not: errors, and violations of the policy among them."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.allowed: list[str] = []

    def allow(self, part: str) -> None:
        """A complaint with this text in it is what the test is about."""
        self.allowed.append(part)

    def watch(self, page: Page) -> None:
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.found.append(f"{page.url}: {error}"))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.found.append(f"{message.location.get('url', '')}: {message.text}")

    def unexpected(self) -> list[str]:
        return [line for line in self.found if not any(part in line for part in self.allowed)]


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    heard = Complaints()
    yield heard
    assert not heard.unexpected(), "the browser complained:\n" + "\n".join(heard.unexpected())


@pytest.fixture
def new_page(browser: Browser, live_server: LiveServer, complaints: Complaints) -> Iterator[Callable[..., Page]]:
    """Opens pages of people apart from each other: `new_page(PHONE, color_scheme="dark")`; one context each."""
    contexts: list[BrowserContext] = []

    def make(viewport: dict[str, int] = WIDE, **options: Any) -> Page:
        context = browser.new_context(base_url=live_server.url, viewport=viewport, **options)  # type: ignore[arg-type]
        context.set_default_timeout(10_000)
        context.on("page", complaints.watch)
        contexts.append(context)
        return context.new_page()

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """One page, 1280 wide, light."""
    return new_page()


@pytest.fixture(params=[PHONE, WIDE], ids=["390", "1280"])
def any_page(request: pytest.FixtureRequest, new_page: Callable[..., Page]) -> Page:
    """The same test on a phone and on a wide screen."""
    return new_page(request.param)


@pytest.fixture
def accessible() -> Callable[[Page], None]:
    """Fails where axe finds a violation of WCAG 2.2 AA on the page, light or dark."""

    def check(page: Page) -> None:
        dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        told = _violations(page, RULES)
        with _scheme(page, "light" if dark else "dark", back="dark" if dark else "light"):
            told += _violations(page, COLOURS)  # All that the scheme changes.
        assert not told, f"{page.url} is not accessible:\n" + "\n".join(told)

    return check


def _violations(page: Page, rules: dict[str, Any]) -> list[str]:
    found = Axe().run(page, options={"runOnly": rules, "resultTypes": ["violations"]}).response["violations"]
    return [f"{v['id']}: {v['help']} ({v['nodes'][0]['html'][:160]})" for v in found]


@contextmanager
def _scheme(page: Page, scheme: Any, *, back: Any) -> Iterator[None]:
    page.emulate_media(color_scheme=scheme)
    yield
    page.emulate_media(color_scheme=back)
