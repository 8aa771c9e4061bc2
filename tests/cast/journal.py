"""A run to try things on: an agent that is switched on and announced, and doors to what it does."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db.models.functions import Now

from runs import commands, leases
from runs.entries import Closing, Journal, Opening, Planned, StepRow
from runs.journal import Holder, holder, load
from runs.models import AgentVersion, Lease, Run
from tenants import agents, members
from tenants.actors import COMMAND, Actor
from tenants.models import Event, Member, Tenant
from tenants.scope import scope

KNOWS = ["clerk@1"]


@dataclass(frozen=True)
class Started:
    """One run of the agent `clerk`, of one tenant."""

    tenant: UUID
    id: UUID

    @property
    def row(self) -> Run:
        with scope(self.tenant):
            return Run.objects.get(pk=self.id)

    @property
    def journal(self) -> Journal:
        return load(self.tenant, self.id)

    def events(self) -> list[str]:
        with scope(self.tenant):
            rows = Event.objects.filter(subject=f"run:{self.id}").order_by("seq")
            found = list(rows.values_list("seq", "name"))
        assert [seq for seq, _name in found] == list(range(1, len(found) + 1)), "numbers have a gap"
        return [name for _seq, name in found]

    def acquire(self, worker: str = "worker:1") -> leases.Lease:
        found = leases.acquire(self.tenant, self.id, worker=worker, knows=KNOWS)
        assert found is not None
        return found

    def hold(self, worker: str = "worker:1") -> Holder:
        return holder(self.acquire(worker))

    def do(self, command: Callable[..., Run], *args: Any, actor: Actor = COMMAND, **values: Any) -> Run:
        with scope(self.tenant):
            return command(self.id, *args, actor=actor, **values)


def switch_on(tenant: Tenant, agent: str = "clerk", version: str = "1") -> None:
    """Announce the agent as a worker would, and switch it on in this tenant."""
    known = {"known_until": Now() + timedelta(hours=1)}
    AgentVersion.objects.update_or_create(agent=agent, version=version, defaults=known)
    with scope(tenant.pk):
        agents.switch(agent, actor=COMMAND, enabled=True)


def begin(tenant: Tenant, *, actor: Actor = COMMAND, **wanted: Any) -> Started:
    """Start a run of `clerk` in this tenant."""
    with scope(tenant.pk):
        run = commands.start(commands.Start(agent="clerk", input='{"case": "1"}', **wanted), actor=actor)
    return Started(tenant.pk, run.pk)


@pytest.fixture
def clerk(acme: Tenant) -> Tenant:
    """The tenant, with the agent `clerk` switched on."""
    switch_on(acme)
    return acme


@pytest.fixture
def run(clerk: Tenant) -> Started:
    """A queued run without initiators."""
    return begin(clerk)


@pytest.fixture
def her_run(clerk: Tenant, mona: Member) -> Started:
    """A queued run that Mona started."""
    return begin(clerk, actor=members.actor_of(mona))


def lapse(run: Started) -> None:
    """Let the lease of the run's holder be over, as if the holder had been gone for long.

    Before the test's own transaction began, whose time is what the sweep goes by.
    """
    with scope(run.tenant):
        Lease.objects.filter(run_id=run.id).update(until=TransactionNow() - timedelta(seconds=1))


def call(tool: str = "pay", effect: str = "keyed", **values: Any) -> Planned:
    """A planned call of a tool."""
    known = {"call_id": "c1", "digest": "d", "turn": 1, "proposed": '{"a": 1}', "arguments": '{"a": 1}'}
    return Planned("tool_call", tool=tool, effect=effect, **{**known, **values})


def ask(door: Holder, *plans: Planned, opening: Opening | None = None, result: str = "asked") -> StepRow | None:
    """A model turn that asks for these calls; the first attempt is opened where `opening` says so."""
    turn = door.open_turn()
    return door.close_turn_and_open(Closing(turn.seq, "completed", result=result), plans=plans, opening=opening)
