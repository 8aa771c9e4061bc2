"""Messages lost, doubled, late: the database knows what is due."""

from collections.abc import Callable
from typing import Any

import pytest

from tenants import broker
from tenants.models import Member, Tenant
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call

pytestmark = pytest.mark.faults


def test_a_queued_run_whose_message_is_lost_starts_with_the_next_sweep(workers: Any, acme: Tenant) -> None:
    assert workers.freeze(), "the workers did not come to rest"
    ids = [runs.start(acme, [call("pay")]) for _ in range(5)]
    workers.valkey.flushdb()
    workers.thaw()
    for run in ids:
        runs.until(acme, run, "succeeded", within=8)
        assert len(ledger.acts(run)) == 1


def test_a_message_delivered_many_times_at_once_advances_the_run_once(workers: Any, acme: Tenant) -> None:
    ids = [runs.start(acme, [call("pay", how="sleep:0.05")], [call("set_it")]) for _ in range(5)]
    for run in ids:
        for _ in range(8):
            broker.publish("runs.tasks.advance", acme.pk, run)
    for run in ids:
        runs.until(acme, run, "succeeded")
        assert [line["turn"] for line in ledger.asked(run)] == [0, 1, 2]
        assert len(ledger.acts(run)) == 2
        assert runs.story(acme, run).count("run.started") == 1


def test_a_late_message_does_not_revive_a_finished_run(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, "at once")
    runs.until(acme, run, "succeeded")
    told = runs.story(acme, run)
    broker.publish("runs.tasks.advance", acme.pk, run)
    workers.await_idle()
    assert runs.story(acme, run) == told


def test_two_schedulers_wake_a_sleeping_run_once(own_workers: Callable[..., Any], acme: Tenant) -> None:
    workers = own_workers(n=2)
    second = workers._start("beat")
    try:
        run = runs.start(acme, {"fail": "limited", "times": 2, "then": [call("pay")]})
        runs.until(acme, run, "succeeded")
    finally:
        second.kill()
        second.wait()
    assert [line["turn"] for line in ledger.asked(run)] == [0, 0, 0, 1]
    assert len(ledger.acts(run)) == 1


def test_an_answer_given_while_the_broker_is_empty_is_acted_on(workers: Any, acme: Tenant, alice: Member) -> None:
    run = runs.start(acme, [call("refund")])
    runs.until(acme, run, "waiting_approval")
    assert workers.freeze(), "the workers did not come to rest"
    runs.decide(alice, runs.requests(acme, run)[0])
    workers.valkey.flushdb()
    workers.thaw()
    runs.until(acme, run, "succeeded", within=8)
    assert len(ledger.acts(run)) == 1
