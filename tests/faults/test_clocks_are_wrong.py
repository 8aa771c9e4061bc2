"""Hosts whose clocks are wrong: a lease's time is the database's, and a sweep comes whatever a host's clock says."""

import signal
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from approvals import rules
from approvals.models import ApprovalRequest
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call
from tests.harness.workers import skewed

pytestmark = pytest.mark.faults


def test_a_clock_that_is_wrong_takes_no_live_run_and_keeps_no_lost_one_waiting(
    own_workers: Callable[..., Any], acme: Tenant
) -> None:
    """Case 49: one worker ten minutes ahead, one behind; their scheduler's clock is behind too, and then set back."""
    workers = own_workers(n=1)
    run = runs.start(acme, [call("pay", how="hold")], {"fail": "limited", "times": 1, "then": [call("look")]})
    runs.so(lambda: ledger.acts(run))
    beat = workers.schedule(**skewed(-900))
    workers.add(**skewed(600))
    workers.add(**skewed(-600))
    other = runs.start(acme, [call("pay")])  # Queued, taken and ended while the first is held.
    workers.valkey.delete("celery")
    runs.until(acme, other, "succeeded")
    assert len(ledger.acts(run)) == 1
    assert runs.story(acme, run).count("run.started") == 1
    beat.send_signal(signal.SIGUSR2)
    for takers in (2, 3):  # A third holder lost at one step, and a person would be asked.
        workers.kill(workers.pids.index(ledger.acts(run)[-1]["pid"]))
        runs.so(lambda takers=takers: len(ledger.acts(run)) == takers, lambda: workers.log[-3000:])
    ledger.let_go(run)
    runs.until(acme, run, "succeeded")
    assert len({line["key"] for line in ledger.acts(run, "pay")}) == 1
    assert len({line["pid"] for line in ledger.acts(run, "pay")}) == 3
    assert runs.story(acme, run).count("run.recovered") == 2
    times = [event.at for event in runs.events_of(acme, run)]
    assert all(earlier <= later for earlier, later in pairwise(times)), "an event's time is the database's"


def test_a_host_in_a_zone_far_from_utc_neither_ends_a_request_at_once_nor_keeps_it(
    own_workers: Callable[..., Any], acme: Tenant, alice: Member
) -> None:
    """Case 56: fourteen hours ahead of UTC."""
    with scope(acme.pk):
        for tool, seconds in (("refund", 3600), ("pay", 2)):
            wanted = {"of": [{"member": alice.email}], "response_timeout": seconds}
            rules.create_rule(actor=COMMAND, name=tool, tools=[tool], outcome="require_approval", **wanted)
    own_workers(n=1, TZ="Pacific/Kiritimati", PGTZ="Pacific/Kiritimati")
    long, short = (runs.start(acme, [call(tool)]) for tool in ("refund", "pay"))
    runs.until(acme, short, "succeeded")
    assert runs.story(acme, short).count("approval.expired") == 1
    runs.until(acme, long, "waiting_approval")
    with scope(acme.pk, read_only=True):
        waits = ApprovalRequest.objects.get(subject=f"run:{long}")
        assert waits.status == "pending"
        asked = next(event.at for event in runs.events_of(acme, long) if event.name == "approval.requested")
        assert round((waits.deadline - asked).total_seconds()) == 3600
