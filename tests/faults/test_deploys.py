"""Workers come and go: work is given back, and a run goes on only where its version, or one that fits, is known."""

import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from runs.models import WorkerSeen
from tenants.models import Member, Tenant
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call

pytestmark = pytest.mark.faults


def test_a_worker_that_is_asked_to_end_gives_its_run_back_at_once(
    own_workers: Callable[..., Any], acme: Tenant
) -> None:
    workers = own_workers(n=2, LEASE_SECONDS="60")
    run = runs.start(acme, *([[call("pay", how="sleep:0.3")]] * 12))
    runs.so(lambda: ledger.acts(run))
    first = workers.pids.index(ledger.acts(run)[0]["pid"])
    workers.processes[first].send_signal(signal.SIGTERM)
    runs.until(acme, run, "succeeded", within=30)
    assert len(ledger.acts(run)) == 12
    assert len({line["pid"] for line in ledger.acts(run)}) == 2
    assert "run.recovered" not in runs.story(acme, run)
    assert workers.processes[first].wait(20) == 0


def test_what_is_submitted_while_workers_start_is_done_once(own_workers: Callable[..., Any], acme: Tenant) -> None:
    """Case 52: a hundred runs and more, from before the first process is there until after both take messages."""
    workers = own_workers(n=2, LEASE_SECONDS="60")
    workers.kill_all()
    ids = [runs.start(acme, [call("pay")]) for _ in range(30)]
    workers.restart_all(wait=False)
    while not workers.listening:
        ids.append(runs.start(acme, [call("pay")]))
        time.sleep(0.05)
    ids += [runs.start(acme, [call("pay")]) for _ in range(max(10, 100 - len(ids)))]
    for run in ids:
        runs.until(acme, run, "succeeded", within=60)
        assert len(ledger.acts(run)) == 1
        assert [line["turn"] for line in ledger.asked(run)] == [0, 1]
        assert runs.story(acme, run).count("run.started") == 1


def test_a_long_run_is_given_back_by_slices(own_workers: Callable[..., Any], acme: Tenant) -> None:
    own_workers(n=1, SLICE_SECONDS="0.5")
    run = runs.start(acme, *([[call("pay", how="sleep:0.2")]] * 8))
    runs.until(acme, run, "succeeded", within=30)
    assert len(ledger.acts(run)) == 8
    assert runs.story(acme, run).count("run.started") >= 3


def test_two_generations_side_by_side_each_do_the_runs_of_their_own_version(
    own_workers: Callable[..., Any], acme: Tenant
) -> None:
    """A rolling deploy: while both are there, a run is done where its version is known, and nowhere else."""
    workers = own_workers(n=1)
    workers.add(AGENT_GENERATION="2")
    pays = [[call("pay")], [call("pay", amount=2)]]
    ids = {version: [runs.start(acme, *pays, version=version) for _ in range(5)] for version in ("1", "2")}
    for version, pid in zip(("1", "2"), workers.pids, strict=True):
        for run in ids[version]:
            assert runs.until(acme, run, "succeeded", within=30).version == version
            assert [line["pid"] for line in ledger.acts(run)] == [pid, pid]


def test_a_parked_run_waits_for_a_worker_that_knows_its_version(
    own_workers: Callable[..., Any], acme: Tenant, alice: Member
) -> None:
    workers = own_workers(n=1, VERSION_GRACE="1")
    run = runs.start(acme, [call("refund")])
    runs.until(acme, run, "waiting_approval")
    workers.kill_all()
    workers.env |= {"AGENT_GENERATION": "2"}
    workers.restart_all()
    runs.decide(alice, runs.requests(acme, run)[0])
    assert runs.until(acme, run, "needs_attention", within=30).reason == "version"
    assert ledger.acts(run) == []
    workers.add(AGENT_GENERATION="3", AGENT_FITS="1")
    runs.until(acme, run, "succeeded", within=30)
    assert len(ledger.acts(run)) == 1
    assert len(runs.requests(acme, run, "approved")) == 1, "the tool is the same, so nobody is asked again"


def test_a_worker_that_is_told_to_end_is_believed_no_longer(own_workers: Callable[..., Any], acme: Tenant) -> None:
    workers = own_workers(n=2, LEASE_SECONDS="60")
    names = [f"{socket.gethostname()}:{pid}" for pid in workers.pids]

    def seen() -> list[str]:
        return [name for name in names if WorkerSeen.objects.filter(worker=name, until__gt=timezone.now()).exists()]

    runs.until(acme, runs.start(acme, [call("pay")]), "succeeded", within=30)
    assert seen() == names
    workers.kill(0, signal.SIGTERM)
    assert seen() == names[1:]
    workers.kill(1, signal.SIGTERM)
    assert seen() == []


def test_a_worker_whose_module_of_agents_is_broken_ends_and_names_its_authors_line(
    own_workers: Callable[..., Any], acme: Tenant, tmp_path: Path
) -> None:
    """It logged the error as one of a signal's handler, and took messages with no agent that it knew."""
    (tmp_path / "night_desk.py").write_text("from runs.tools import tool\n\ntool(effect=1, risk=2, summary=3)(print)\n")
    workers = own_workers(n=1)
    with pytest.raises(AssertionError, match="a worker ended"):
        workers.add(AGENT_MODULES="night_desk", PYTHONPATH=str(tmp_path))
    assert workers.processes[1].wait(5) == 1
    assert f"({tmp_path}/night_desk.py, line 3). Correct the module" in workers.log
    assert "Signal handler" not in workers.log
    assert "Traceback" not in workers.log
    runs.until(acme, runs.start(acme, [call("pay")]), "succeeded")
