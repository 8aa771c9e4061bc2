"""What the tests stand on holds."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from config.celery import app
from tests.harness.live import LiveServer
from tests.harness.workers import Workers


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
    states = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in workers.pids]
    assert states == ["T", "T"]
    workers.thaw()


def test_the_server_answers(live_server: LiveServer) -> None:
    assert httpx.get(f"{live_server}/healthz").json() == {"status": "ok"}
    assert httpx.get(f"{live_server}/readyz").json()["status"] == "ok"


@pytest.mark.journey
def test_a_browser_opens_a_page(page: Page) -> None:
    page.goto("/healthz")
    expect(page.locator("body")).to_contain_text("ok")
