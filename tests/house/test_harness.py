"""What the tests stand on holds."""

import os
import signal
import threading
import time
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from config.celery import app
from tenants.models import Member
from tests.harness.database import NAME, Emptier, owner
from tests.harness.live import LiveServer
from tests.harness.workers import Workers, standing


def test_the_pair_takes_what_this_process_publishes(workers: Workers) -> None:
    app.send_task("nobody.knows.this", ["told by a test"])
    workers.await_idle()
    assert "nobody.knows.this" in workers.log


def test_workers_of_a_test_can_be_killed_and_come_back(own_workers: Callable[..., Workers]) -> None:
    own = own_workers(n=1, beat=False)
    before = own.pids[0]
    own.kill(0)
    with pytest.raises(ProcessLookupError):
        os.kill(before, signal.SIGKILL)
    app.send_task("nobody.knows.this.either")
    own.restart(0)
    own.await_idle()
    assert "nobody.knows.this.either" in own.log


def test_the_pair_stands_still_between_tests(workers: Workers) -> None:
    assert workers.freeze()
    assert [standing(pid) for pid in workers.pids] == ["T", "T"]
    workers.thaw()


def test_the_server_answers(live_server: LiveServer) -> None:
    assert httpx.get(f"{live_server}/healthz").json() == {"status": "ok"}
    assert httpx.get(f"{live_server}/readyz").json()["status"] == "ok"


@pytest.mark.journey
def test_a_browser_opens_a_page(page: Page) -> None:
    page.goto("/healthz")
    expect(page.locator("body")).to_contain_text("ok")


@pytest.mark.journey
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_contrast_too_low_in_one_scheme_is_found_in_either(
    page: Page, accessible: Callable[[Page], None], scheme: str
) -> None:
    faint = f"<style>@media (prefers-color-scheme: {scheme}) {{ p {{ color: #888; background: #999; }} }}</style>"
    page.set_content(f'<html lang="en"><title>Faint</title>{faint}<main><h1>Title</h1><p>Faint.</p></main></html>')
    with pytest.raises(AssertionError, match="color-contrast"):
        accessible(page)


def test_a_request_that_still_reads_ends_neither_itself_nor_the_emptying(
    transactional_db: None, emptier: Emptier, alice: Member
) -> None:
    with owner(NAME) as reader, reader.transaction():
        reader.execute("SELECT FROM tenants_member")
        emptying = threading.Thread(target=emptier.empty)
        emptying.start()
        while not _waits(emptier):
            time.sleep(0.01)
        reader.execute("SELECT FROM tenants_tenant")  # Each waits for the other now, until PostgreSQL ends one of them.
    emptying.join()
    with owner(NAME) as reader:
        assert reader.execute("SELECT count(*) FROM tenants_member").fetchone() == (0,)


def _waits(emptier: Emptier) -> bool:
    with owner(NAME) as looking:
        query = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s"
        return looking.execute(query, [emptier.connection.info.backend_pid]).fetchone() == (True,)
