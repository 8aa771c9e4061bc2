"""The eight faults of a long run, with real processes, and the four questions that each of them must answer.

Did an effect happen twice? By the far side's own book, in which a key that is known already counts once.
Do the states agree? The rows with each other, and with what the events tell when they are folded.
Does a person see the truth? The words of the run's page, and what the API says.
Can a person take over? The verb that leads out, sent by the page's own form.
"""

import os
import re
import signal
from html import unescape
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from runs.models import Lease, Run
from tenants import broker
from tenants.models import Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.agents import ledger
from tests.cast import runs
from tests.cast.folding import demand_that_events_tell_the_rows
from tests.cast.people import Key, make_member
from tests.cast.runs import call
from tests.harness.database import NAME, owner
from tests.harness.workers import Workers

pytestmark = pytest.mark.faults

KEYED = ("pay", "refund")
PLANNED = {"approved": "planned", "waiting_approval": "planned"}
"""A planned step as the API tells it, which looks at its request too."""


class Questions:
    """The four, asked about runs of one tenant; the page and the API are read as this manager."""

    def __init__(self, tenant: Tenant, member: Member, key: Key) -> None:
        self.tenant = tenant
        self.key = key
        self.client = self.signed_in(member)

    def signed_in(self, member: Member) -> Client:
        client = Client()
        client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
        return client

    def no_effect_is_doubled(self, run: UUID, *wanted: str) -> None:
        """What the far side did for this run: each line of its book once, and each key of a keyed tool once."""
        done: dict[Any, str] = {}
        for place, line in enumerate(ledger.acts(run)):
            keyed = line["tool"] in KEYED
            done.setdefault(line["key"] if keyed else place, f"{line['tool']} {' '.join(line['args'].values())}")
        assert sorted(done.values()) == sorted(wanted)

    def the_states_agree(self, run: UUID, status: str, *steps: str) -> None:
        """The run comes to this; then its calls, its lease, the API and the folded events say one thing."""
        runs.so(lambda: self._says(run) == (status, *steps), lambda: f"it says {self._says(run)}")
        told = [each["status"] for each in self._api(f"/runs/{run}/steps")["items"] if each["kind"] == "tool_call"]
        assert [PLANNED.get(each, each) for each in told] == list(steps)
        assert self._api(f"/runs/{run}")["status"] == status
        with scope(self.tenant.pk, read_only=True):
            held = Lease.objects.filter(run_id=run, until__isnull=False).exists()
        assert held == (status == "running")
        assert demand_that_events_tell_the_rows(owner(NAME))

    def _says(self, run: UUID) -> tuple[str, ...]:
        row = runs.read(self.tenant, run)
        return row.status, *(step.status for step in runs.calls(self.tenant, run))

    def a_person_reads(self, run: UUID, *said: str) -> None:
        """The run's page says this, in these words."""
        html = unescape(self.client.get(f"/t/acme/runs/{run}/").content.decode())
        text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
        for each in said:
            assert each in text, f"{each!r} is not in {text}"

    def a_person_takes_over(self, run: UUID, verb: str, becomes: str, *, by: Client | None = None) -> Run:
        """The page offers this verb, it is accepted, and the run comes to that state."""
        client = by or self.client
        assert f"/t/acme/runs/{run}/{verb}/" in client.get(f"/t/acme/runs/{run}/").content.decode()
        assert client.post(f"/t/acme/runs/{run}/{verb}/").status_code == 303
        return runs.until(self.tenant, run, becomes, within=30)

    def a_person_settles(self, run: UUID, step: int, outcome: str) -> None:
        """The outcome desk lists the call, takes what a person found out, and the run goes on to its end."""
        assert f"{run}-{step}" in self.client.get("/t/acme/outcomes/").content.decode()
        none = {"no_result": "1"} if outcome == "completed" else {}
        found = {"outcome": outcome, "note": "I asked them.", **none}
        assert self.client.post(f"/t/acme/outcomes/{run}-{step}/settle/", found).status_code == 303
        runs.until(self.tenant, run, "succeeded", within=30)

    def _api(self, path: str) -> Any:
        response = Client().get(f"/api/v1{path}", headers=self.key.headers)
        assert response.status_code == 200, response.content
        return response.json()


@pytest.fixture
def asked(acme: Tenant, mona: Member, mona_key: Key) -> Questions:
    """The questions, put by Mona, who manages."""
    return Questions(acme, mona, mona_key)


def test_1_the_model_times_out_at_step_3(crew: Workers, acme: Tenant, asked: Questions) -> None:
    run = runs.start(acme, [call("pay")], {"fail": "sleep:2.3", "times": 2, "then": [call("pay", amount=2)]})
    runs.until(acme, run, "failed", within=30)
    asked.no_effect_is_doubled(run, "pay 1")
    asked.the_states_agree(run, "failed", "completed")
    asked.a_person_reads(run, "Failed at", "No answer after 2 seconds.", "no answer in time")
    asked.a_person_takes_over(run, "retry", "succeeded")
    asked.no_effect_is_doubled(run, "pay 1", "pay 2")
    assert [line["turn"] for line in ledger.asked(run)] == [0, 1, 1, 1, 2], "the first turn is read, not asked again"


def test_2_the_tool_ran_but_its_answer_was_lost(crew: Workers, acme: Tenant, asked: Questions) -> None:
    run = runs.start(acme, [call("pay", how="lost:1"), call("send", how="lost:1")])
    runs.until(acme, run, "needs_attention")
    asked.no_effect_is_doubled(run, "pay 1", "send it")
    asked.the_states_agree(run, "needs_attention", "completed", "unknown")
    asked.a_person_reads(run, "Step 3 may or may not have happened", "Settle it at the outcome desk")
    asked.a_person_settles(run, 3, "completed")
    asked.no_effect_is_doubled(run, "pay 1", "send it")
    assert len(ledger.acts(run, "pay")) == 2, "the far side was asked twice under one key"


def test_3_the_worker_died_before_the_checkpoint(crew: Workers, acme: Tenant, asked: Questions) -> None:
    run = runs.start(acme, [call("pay", how="die:1")], [call("send", how="die:1")])
    runs.so(lambda: _alive(crew) and runs.read(acme, run).status == "needs_attention", within=60)
    asked.no_effect_is_doubled(run, "pay 1", "send it")
    asked.the_states_agree(run, "needs_attention", "completed", "unknown")
    asked.a_person_reads(run, "Step 4 may or may not have happened", "the worker stopped before an answer came")
    asked.a_person_settles(run, 4, "completed")
    asked.no_effect_is_doubled(run, "pay 1", "send it")
    assert runs.story(acme, run).count("run.recovered") == 2


def _alive(crew: Workers) -> bool:
    """Start again whoever died; always True."""
    if any(process.poll() is not None for process in crew.processes):
        crew.restart_all(wait=False)
    return True


def test_4_a_message_was_delivered_twice(crew: Workers, acme: Tenant, asked: Questions) -> None:
    run = runs.start(acme, [call("pay", how="hold"), call("pay", amount=2)])
    runs.so(lambda: ledger.acts(run))
    _again(acme, run)
    asked.no_effect_is_doubled(run, "pay 1")
    asked.the_states_agree(run, "running", "started", "planned")
    asked.a_person_reads(run, "A test running", "2. Pay 1", "3. Pay 2")
    asked.a_person_takes_over(run, "pause", "paused")
    ledger.let_go(run)
    runs.so(lambda: runs.calls(acme, run)[0].status == "completed")
    _again(acme, run)
    crew.await_idle()
    asked.no_effect_is_doubled(run, "pay 1")
    asked.a_person_takes_over(run, "resume", "succeeded")
    asked.no_effect_is_doubled(run, "pay 1", "pay 2")
    assert [line["turn"] for line in ledger.asked(run)] == [0, 1]


def _again(tenant: Tenant, run: UUID) -> None:
    for _ in range(6):
        broker.publish("runs.tasks.advance", tenant.pk, run)


def test_5_the_user_cancelled_before_a_risky_act(
    crew: Workers, acme: Tenant, asked: Questions, alice: Member, mona_key: Key
) -> None:
    user = make_member(acme, "Uma")
    run = runs.start(acme, [call("pay")], [call("refund", amount=9)], by=user)
    runs.until(acme, run, "waiting_approval")
    (request,) = runs.requests(acme, run)
    asked.a_person_takes_over(run, "cancel", "cancelled", by=asked.signed_in(user))
    with pytest.raises(Refusal) as late:
        runs.decide(alice, request)
    assert late.value.standing["status"] == "cancelled"
    _again(acme, run)
    crew.await_idle()
    asked.no_effect_is_doubled(run, "pay 1")
    asked.the_states_agree(run, "cancelled", "completed", "declined")
    asked.a_person_reads(run, "Uma stopped further steps at", "What had already happened stays done:", "Pay 1")
    anew = {"agent": "script", "input": {"turns": [[{"tool": "refund", "args": {"amount": 9}}]]}}
    made = Client().post("/api/v1/runs", anew, content_type="application/json", headers=mona_key.headers).json()
    runs.until(acme, made["id"], "waiting_approval")
    asked.no_effect_is_doubled(made["id"])


def test_6_the_model_version_changed_before_the_resume(
    crew: Workers, acme: Tenant, asked: Questions, alice: Member
) -> None:
    kept, stopped = (runs.start(acme, [call("refund", amount=amount)]) for amount in (1, 2))
    for run in (kept, stopped):
        runs.until(acme, run, "waiting_approval")
    crew.deploy(AGENT_GENERATION="2")
    for run in (kept, stopped):
        runs.decide(alice, runs.requests(acme, run)[0])
        assert runs.until(acme, run, "needs_attention", within=30).reason == "version"
        asked.no_effect_is_doubled(run)
        asked.the_states_agree(run, "needs_attention", "planned")
        asked.a_person_reads(
            run, "No running worker knows this version of the agent.", "It goes on by itself once a worker that knows"
        )
    asked.a_person_takes_over(stopped, "cancel", "cancelled")
    crew.add(AGENT_GENERATION="3", AGENT_FITS="1")
    runs.until(acme, kept, "succeeded", within=30)
    asked.no_effect_is_doubled(kept, "refund 1")
    asked.no_effect_is_doubled(stopped)


def test_7_a_service_limits_the_rate_for_long(crew: Workers, acme: Tenant, asked: Questions) -> None:
    shorter = runs.start(acme, [call("pay", how="limited:3")])
    longer = runs.start(acme, [call("pay", how="an hour:1"), call("pay", amount=2)])
    runs.until(acme, shorter, "succeeded")
    runs.until(acme, longer, "sleeping")
    crew.await_idle()
    asked.no_effect_is_doubled(shorter, "pay 1")
    asked.no_effect_is_doubled(longer, "pay 1", "pay 2")
    assert len(ledger.acts(longer)) == 2, "the service is not asked again before the time it told"
    asked.the_states_agree(longer, "sleeping", "started", "completed")
    asked.a_person_reads(longer, "Step 2 is tried again at", "The service asked to wait.", "too many requests")
    asked.a_person_takes_over(longer, "cancel", "cancelled")
    asked.the_states_agree(longer, "cancelled", "declined", "completed")
    tried = runs.attempts(acme, shorter, 2)
    waits = [later.opened_at - former.closed_at for former, later in pairwise(tried)]
    assert all(wait.total_seconds() >= 0.3 for wait in waits)


def test_8_two_workers_grab_one_run(crew: Workers, acme: Tenant, asked: Questions) -> None:
    """One stalls inside its call until its lease is over; it wakes while the other is at work, and writes nothing."""
    run = runs.start(acme, [call("pay", how="hold"), call("pay", amount=2)])
    runs.so(lambda: ledger.acts(run))
    late = crew.stall(crew.pids.index(ledger.acts(run)[0]["pid"]))
    runs.so(lambda: len(ledger.acts(run)) == 2, within=30)
    os.kill(late, signal.SIGCONT)
    _again(acme, run)
    asked.no_effect_is_doubled(run, "pay 1")
    asked.the_states_agree(run, "running", "started", "planned")
    asked.a_person_reads(run, "A test running", "the worker stopped before an answer came")
    asked.a_person_takes_over(run, "cancel", "cancelled")
    ledger.let_go(run)
    runs.so(lambda: runs.calls(acme, run)[0].status == "completed")
    crew.await_idle()
    asked.no_effect_is_doubled(run, "pay 1")
    asked.the_states_agree(run, "cancelled", "completed", "declined")
    assert len({line["pid"] for line in ledger.acts(run)}) == 2
    assert [each.cause for each in runs.attempts(acme, run, 2)] == ["crashed", ""]
