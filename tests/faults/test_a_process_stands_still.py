"""A process that stands still within a transaction keeps its locks for a while, not for ever, and is told so."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections, transaction
from psycopg.errors import IdleInTransactionSessionTimeout

from approvals.models import Channel
from config import env
from tenants.models import Tenant
from tenants.scope import scope
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call
from tests.harness.workers import database_url, standing

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True, databases=["default", "owner"])]

STANDS_STILL = """
import os, signal
from uuid import UUID
from approvals.models import Channel
from tenants.scope import scope
tenant = UUID(os.environ["TENANT"])
with scope(tenant):
    Channel.objects.create(tenant_id=tenant, kind="webhook", name="hook", enabled=True)
    os.kill(os.getpid(), signal.SIGSTOP)
"""


STOPS_ONCE = """
import os, pathlib, signal
from approvals import requests
flag, tell = pathlib.Path("{flag}"), requests.tell
def tell_and_stop(*rest, **values):
    tell(*rest, **values)
    if not flag.exists():
        flag.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGSTOP)
requests.tell = tell_and_stop
"""


@pytest.fixture
def stopped(acme: Tenant) -> Iterator[Callable[[], "subprocess.Popen[str]"]]:
    """Starts a process that switches a webhook on, which locks what runs hold, and stands still before its commit."""
    made: list[subprocess.Popen[str]] = []

    def start() -> "subprocess.Popen[str]":
        told = {"DATABASE_URL": database_url("stopped"), "IDLE_TRANSACTION_SECONDS": "2", "TENANT": str(acme.pk)}
        command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", STANDS_STILL]
        env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **told}
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        made.append(subprocess.Popen(command, cwd=settings.BASE_DIR, env=env, **pipes))
        runs.so(lambda: standing(made[-1].pid) == "T")
        return made[-1]

    yield start
    for each in made:
        each.kill()
        each.wait()


def test_a_run_goes_on_though_the_process_that_locked_its_lease_stands_still(
    own_workers: Callable[..., Any], acme: Tenant, stopped: Callable[[], "subprocess.Popen[str]"]
) -> None:
    own_workers(n=1, LEASE_SECONDS="60")
    run = runs.start(acme, [call("fetch", how="hold")], [call("pay")])
    runs.so(lambda: ledger.acts(run))
    process = stopped()
    ledger.let_go(run)
    runs.until(acme, run, "succeeded", within=30)
    assert standing(process.pid) == "T"
    assert len(ledger.acts(run)) == 2
    process.send_signal(signal.SIGCONT)
    _told, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "The command stood still, and PostgreSQL ended its transaction. Nothing was changed" in said
    assert "Traceback" not in said
    with scope(acme.pk):
        assert not Channel.objects.exists()


def test_a_worker_that_stands_still_while_it_asks_people_is_overtaken_and_goes_on_with_other_runs(
    own_workers: Callable[..., Any], acme: Tenant, tmp_path: Path
) -> None:
    """It has the run's lock: without an end to its transaction no other worker could take the run up, nor anybody
    cancel it."""
    (tmp_path / "stands_still.py").write_text(STOPS_ONCE.format(flag=tmp_path / "flag"))
    told = {"AGENT_MODULES": "tests.cast.agents,stands_still", "PYTHONPATH": str(tmp_path)}
    workers = own_workers(n=2, LEASE_SECONDS="3", IDLE_TRANSACTION_SECONDS="2", **told)
    run = runs.start(acme, [call("refund")])
    runs.so(lambda: (tmp_path / "flag").exists())
    pid = int((tmp_path / "flag").read_text())
    runs.until(acme, run, "waiting_approval", within=30)
    assert standing(pid) == "T"
    assert runs.story(acme, run).count("approval.requested") == 1
    stood = workers.pids.index(pid)
    os.kill(pid, signal.SIGCONT)
    workers.kill(1 - stood)
    runs.until(acme, runs.start(acme, [call("pay")]), "succeeded", within=30)
    assert workers.processes[stood].poll() is None
    assert "OperationalError" in workers.log, "what it met is an outage"


def test_what_asks_in_a_transaction_that_was_ended_meets_an_outage_and_the_next_one_works() -> None:
    with pytest.raises(OperationalError) as raised:
        _stand_still()
    assert isinstance(raised.value.__cause__, IdleInTransactionSessionTimeout)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


def _stand_still() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET idle_in_transaction_session_timeout = 50")
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
        runs.so(lambda: _is_gone(pid))
        cursor.execute("SELECT 1")


def _is_gone(pid: int) -> bool:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", [pid])
        return bool(cursor.fetchone() == (0,))


def test_every_connection_of_the_application_says_how_long_and_a_url_may_say_otherwise() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('idle_in_transaction_session_timeout')")
        assert cursor.fetchone() == ("1min",)
    assert "options" not in env.database("postgresql:///x")["OPTIONS"]
    told = env.database("postgresql:///x?options=-c%20idle_in_transaction_session_timeout%3D5", idle=0.5)
    assert told["OPTIONS"]["options"] == (
        "-c idle_in_transaction_session_timeout=500 -c idle_in_transaction_session_timeout=5"
    )
