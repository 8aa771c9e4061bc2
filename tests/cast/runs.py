"""Runs of the agent `script`: started, watched until something is so, and read back."""

import json
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.utils import timezone

from approvals import decisions
from approvals.models import ApprovalRequest
from runs import announcing, commands, journal
from runs.entries import Journal
from runs.models import Attempt, Run
from tenants import agents, events
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.agents import scripted
from tests.cast.people import actor

assert scripted.TOOLS  # Their import registers the agents in this process too.

PARKED = ("waiting_approval", "sleeping", "needs_attention")
FINISHED = ("succeeded", "failed", "cancelled")


def switch_on(tenant: Tenant, *names: str) -> None:
    """Let the tenant start these agents, which are announced as a worker would."""
    announcing.announce("the test")
    with scope(tenant.pk):
        for name in names:
            if not agents.is_on(name):
                agents.switch(name, actor=COMMAND, enabled=True)


def call(tool: str, **args: Any) -> dict[str, Any]:
    """One call of a scripted turn."""
    return {"tool": tool, "args": args}


def start(
    tenant: Tenant,
    *turns: Any,
    agent: str = "script",
    version: str = "",
    end: str = "done",
    by: Member | None = None,
    **script: Any,
) -> UUID:
    """Queue a run that plays these turns."""
    switch_on(tenant, agent)
    text = json.dumps({"turns": turns, "end": end, **script})
    wanted = commands.Start(agent=agent, version=version, input=text, title="A test")
    with scope(tenant.pk):
        return commands.start(wanted, actor=actor(by) if by else COMMAND).pk


def do(tenant: Tenant, command: Callable[..., Run], run: UUID, *args: Any, by: Member, **values: Any) -> Run:
    """Let a person act on the run, with one of `runs.commands`."""
    with scope(tenant.pk):
        return command(run, *args, actor=actor(by), **values)


def read(tenant: Tenant, run: UUID) -> Run:
    with scope(tenant.pk, read_only=True):
        return Run.objects.get(pk=run)


def steps(tenant: Tenant, run: UUID) -> Journal:
    return journal.load(tenant.pk, run)


def calls(tenant: Tenant, run: UUID) -> list[Any]:
    """The tool steps, in order."""
    return [step for step in steps(tenant, run).steps if step.kind == "tool_call"]


def attempts(tenant: Tenant, run: UUID, seq: int) -> list[Attempt]:
    with scope(tenant.pk, read_only=True):
        return list(Attempt.objects.filter(run_id=run, seq=seq).order_by("number"))


def events_of(tenant: Tenant, run: UUID) -> list[events.EventRow]:
    with scope(tenant.pk, read_only=True):
        return events.after(f"run:{run}", 0, 10_000)


def older_than(tenant: Tenant, run: UUID, seconds: float) -> bool:
    """Whether the run's last change lies so long ago."""
    return (timezone.now() - read(tenant, run).updated_at).total_seconds() > seconds


def story(tenant: Tenant, run: UUID) -> list[str]:
    """The names of the run's events, whose numbers have no gap."""
    found = events_of(tenant, run)
    assert [event.seq for event in found] == list(range(1, len(found) + 1))
    return [event.name for event in found]


def until(tenant: Tenant, run: UUID, *statuses: str, within: float = 15) -> Run:
    """Wait until the run has one of these states; AssertionError with its story after that time."""
    return so(lambda: _in(tenant, run, statuses), lambda: _tell(tenant, run), within=within)


def _in(tenant: Tenant, run: UUID, statuses: tuple[str, ...]) -> Run | None:
    found = read(tenant, run)
    return found if found.status in statuses else None


def _tell(tenant: Tenant, run: UUID) -> str:
    found = read(tenant, run)
    return f"the run is {found.status} {found.reason}: {story(tenant, run)}"


def so(found: Callable[[], Any], told: Callable[[], str] = str, *, within: float = 15) -> Any:
    """Wait until `found` finds something."""
    deadline = time.monotonic() + within
    while not (value := found()):
        assert time.monotonic() < deadline, told()
        time.sleep(0.02)
    return value


def requests(tenant: Tenant, run: UUID, status: str = "pending") -> list[ApprovalRequest]:
    with scope(tenant.pk, read_only=True):
        found = ApprovalRequest.objects.filter(subject=f"run:{run}", status=status)
        return list(found.order_by("opened_at", "id"))


def decide(member: Member, request: ApprovalRequest, decision: str = "approve", **values: Any) -> None:
    """Answer as this member."""
    who = actor(member)
    version = values.pop("version", request.version)
    tenant = request.tenant_id
    decisions.decide(request.pk, tenant=tenant, actor=who, decision=decision, version=version, channel="page", **values)
