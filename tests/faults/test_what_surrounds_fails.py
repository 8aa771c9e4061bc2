"""What surrounds the workers fails while runs flow: the broker, the database, the threads of a worker."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings

from config.local.folder import Folder
from config.local.valkey import Valkey
from tenants.models import Member, Tenant
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call
from tests.harness.database import NAME

pytestmark = pytest.mark.faults


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Valkey]:
    """A broker of this test's own, which it may stop."""
    folder = Folder(tmp_path / "broker")
    folder.hold()
    found = Valkey(folder)
    found.start()
    yield found
    found.stop()
    folder.let_go()
    shutil.rmtree(folder.base, ignore_errors=True)


def test_an_answer_given_while_the_broker_is_away_is_heard_once_it_is_back(
    own_workers: Callable[..., Any], valkey: Valkey, acme: Tenant, alice: Member
) -> None:
    """Case 34: and what was in hand meanwhile is recorded; the same worker takes messages again."""
    workers = own_workers(n=1, valkey=valkey.socket)
    waits, held = runs.start(acme, [call("refund")]), runs.start(acme, [call("sign", how="hold")], [call("pay")])
    runs.until(acme, waits, "waiting_approval")
    runs.so(lambda: ledger.acts(held))
    valkey.stop()
    runs.decide(alice, runs.requests(acme, waits)[0])
    queued = runs.start(acme, [call("pay")])
    ledger.let_go(held)
    runs.until(acme, held, "succeeded")
    assert runs.read(acme, waits).status == runs.read(acme, queued).status == "queued"
    valkey.start()
    for run in (waits, queued):
        runs.until(acme, run, "succeeded", within=45)
        assert len(ledger.acts(run)) == 1
    assert len(runs.requests(acme, waits, "approved")) == 1
    assert {line["pid"] for run in (waits, held, queued) for line in ledger.acts(run)} == set(workers.pids)


@contextmanager
def database_away() -> Iterator[None]:
    """All connections of the workers to the database break, as at its restart, and new ones are refused."""
    with psycopg.connect(host=settings.DATABASES["owner"]["HOST"], user="postgres", autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {NAME} ALLOW_CONNECTIONS false")
        try:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = %s AND application_name LIKE 'workers-%%'",
                [NAME],
            )
            yield
        finally:
            connection.execute(f"ALTER DATABASE {NAME} ALLOW_CONNECTIONS true")


def test_what_was_in_hand_while_the_database_restarted_is_recorded(
    own_workers: Callable[..., Any], acme: Tenant, alice: Member
) -> None:
    """Case 48: no call is made twice for it, none becomes unknown, and new work flows."""
    own_workers(n=1, threads=6, LEASE_SECONDS="90")
    going = [runs.start(acme, [call(tool, how="hold")], [call("pay")]) for tool in ("sign", "pay", "look")]
    large = runs.start(acme, [call("fetch", size=50_000, how="hold")], [call("pay")])
    turn = runs.start(acme, {"fail": "hold", "then": [call("pay"), call("refund")]})
    runs.so(lambda: all(ledger.acts(run) for run in (*going, large)) and ledger.asked(turn))
    with database_away():
        for run in (*going, large, turn):
            ledger.let_go(run)
        time.sleep(1.5)
    runs.until(acme, turn, "waiting_approval", within=60)
    runs.decide(alice, runs.requests(acme, turn)[0])
    for run in (*going, large, turn, runs.start(acme, [call("pay"), call("look")])):
        runs.until(acme, run, "succeeded", within=60)
        assert len(ledger.acts(run)) == 2
        assert len(ledger.asked(run)) == len({line["turn"] for line in ledger.asked(run)})
        assert "run.recovered" not in runs.story(acme, run)


def test_a_worker_with_half_its_threads_stuck_gives_its_runs_back_and_leaves(
    own_workers: Callable[..., Any], acme: Tenant
) -> None:
    workers = own_workers(n=1, threads=2, WORKER_THREADS="2", LEASE_SECONDS="3")
    (first,) = workers.pids
    stuck = runs.start(acme, [call("deliver", how="sleep:600")])
    other = runs.start(acme, *([[call("set_it", how="sleep:0.2")]] * 20))
    assert workers.processes[0].wait(60) == 0
    assert runs.story(acme, other)[-1] == "run.resumed", "given back, not left to lapse"
    workers.restart()
    for run, acts in ((other, 20), (stuck, 1)):  # The carrier of the second was asked, and knew.
        runs.until(acme, run, "succeeded", within=40)
        assert len(ledger.acts(run)) == acts
    assert {line["pid"] for line in ledger.acts(other)} == {first, *workers.pids}
