"""Messages lost, doubled, late: the database knows what is due."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from approvals import escalation_policies, rules
from approvals.models import Delivery
from approvals.signals import request_resolved
from runs import commands, receivers
from tenants import broker
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.agents import ledger
from tests.cast import runs
from tests.cast.runs import call

pytestmark = pytest.mark.faults


def test_a_queued_run_whose_message_is_lost_starts_with_the_next_sweep(workers: Any, acme: Tenant) -> None:
    assert workers.freeze(), "the workers did not come to rest"
    ids = [runs.start(acme, [call("pay")]) for _ in range(5)]
    broker.flush()
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


def test_no_worker_hears_of_a_run_before_its_commit_nor_of_one_that_was_rolled_back(workers: Any, acme: Tenant) -> None:
    """Case 47: a transaction that takes its time, and one that fails."""
    runs.switch_on(acme, "script")
    wanted = commands.Start(agent="script", input='{"turns": [[{"tool": "pay"}]]}', title="A test")
    said, ids = len(workers.log), []
    for fails in (False, True) * 5:
        with contextlib.suppress(ZeroDivisionError), scope(acme.pk):
            ids.append((commands.start(wanted, actor=COMMAND).pk, fails))
            time.sleep(0.3)
            assert not fails or 1 / 0
    for run, fails in ids:
        if not fails:
            runs.until(acme, run, "succeeded")
        assert len(ledger.acts(run)) == (0 if fails else 1)
    assert "DoesNotExist" not in workers.log[said:]


def test_a_late_message_does_not_revive_a_finished_run(workers: Any, acme: Tenant) -> None:
    run = runs.start(acme, "at once")
    runs.until(acme, run, "succeeded")
    told = runs.story(acme, run)
    broker.publish("runs.tasks.advance", acme.pk, run)
    workers.await_idle()
    assert runs.story(acme, run) == told


def test_two_schedulers_and_messages_that_come_again_do_everything_once(
    own_workers: Callable[..., Any], acme: Tenant, alice: Member, bo: Member, tmp_path: Path
) -> None:
    """Cases 44 and 46: a second scheduler, and a broker that gives messages again after a second."""
    with scope(acme.pk):
        escalation_policies.create(actor=COMMAND, name="Soon", levels=[{"after": 1, "members": [bo.email]}])
        who = [{"member": alice.email}]
        wanted = {"of": who, "escalation_policy": "Soon", "response_timeout": 3}
        rules.create_rule(actor=COMMAND, name="Late", tools=["refund"], outcome="require_approval", **wanted)
    workers = own_workers(n=2, VISIBILITY_TIMEOUT="1", EMAIL_URL=f"filemail:///{tmp_path}")
    with workers.second_scheduler():
        silent = runs.start(acme, [call("refund")])
        sleeps = runs.start(acme, {"fail": "limited", "times": 2, "then": [call("pay", how="sleep:3")]})
        for run in (sleeps, silent):
            runs.until(acme, run, "succeeded", within=40)
        with scope(acme.pk, read_only=True):
            told = Delivery.objects.all()
            runs.so(lambda: not told.filter(status__in=["pending", "sending"]).exists())
            tried = list(told.values_list("attempts", flat=True))
            sent = sorted(told.filter(status="sent").values_list("address", "kind", "attempts"))
    assert [line["turn"] for line in ledger.asked(sleeps)] == [0, 0, 0, 1]
    assert len(ledger.acts(sleeps)) == 1
    assert ledger.acts(silent) == []
    story = runs.story(acme, silent)
    assert (story.count("approval.escalated"), story.count("approval.expired")) == (1, 1)
    assert [tries for _address, _kind, tries in sent] == [1] * len(sent)
    assert sum(tried) == len(sent), "what was of no use any more when its turn came was not tried"
    mails = [path.read_text() for path in tmp_path.glob("*.log")]
    assert {alice.email, bo.email} <= {address for address, _kind, _tries in sent}
    assert sum(text.count("Subject: ") for text in mails) == len(sent), "one mail for each of them"


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_an_answer_that_its_run_did_not_hear_is_heard_by_the_sweep(
    workers: Any, acme: Tenant, alice: Member, decision: str
) -> None:
    run = runs.start(acme, [call("refund")])
    runs.until(acme, run, "waiting_approval")
    request_resolved.disconnect(dispatch_uid="runs.receivers.resolved")
    try:
        runs.decide(alice, runs.requests(acme, run)[0], decision, comment="as I said")
    finally:
        request_resolved.connect(receivers.resolved, dispatch_uid="runs.receivers.resolved")
    runs.until(acme, run, "succeeded")
    assert len(ledger.acts(run)) == (1 if decision == "approve" else 0)
    assert runs.story(acme, run).count("run.resumed") == 1
    assert decision == "approve" or "as I said" in ledger.asked(run)[-1]["told"][-1]


def test_an_answer_given_while_the_broker_is_empty_is_acted_on(workers: Any, acme: Tenant, alice: Member) -> None:
    run = runs.start(acme, [call("refund")])
    runs.until(acme, run, "waiting_approval")
    assert workers.freeze(), "the workers did not come to rest"
    runs.decide(alice, runs.requests(acme, run)[0])
    broker.flush()
    workers.valkey.flushdb()
    workers.thaw()
    runs.until(acme, run, "succeeded", within=8)
    assert len(ledger.acts(run)) == 1
