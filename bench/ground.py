"""A tenant and its runs, as a client would have them."""

import time
from uuid import UUID

from approvals.models import ApprovalRequest
from runs import announcing, commands, engine
from runs.agents import load
from runs.models import Run
from tenants import agents, founding
from tenants.actors import COMMAND
from tenants.models import Event
from tenants.scope import scope


def tenant(slug: str = "bench") -> UUID:
    """A tenant with the measured agents switched on."""
    found = founding.found(slug, actor=COMMAND)
    with scope(found.pk):
        for agent in ("steps", "gated"):
            agents.switch(agent, actor=COMMAND, enabled=True)
    return found.pk


def start(tenant_id: UUID, agent: str, text: str = "1") -> UUID:
    """A queued run, announced to the workers."""
    with scope(tenant_id):
        return commands.start(commands.Start(agent=agent, input=text), actor=COMMAND).pk


def announced() -> None:
    """Let this process know the measured agents and take runs up itself."""
    load()
    announcing.announce("bench")


def parked(tenant_id: UUID, text: str = "1") -> UUID:
    """A run that waits for people, taken there by the engine in this process; its request's id."""
    run = start(tenant_id, "gated", text)
    engine.advance(tenant_id, run, worker="bench", knows=["gated@1"], stopping=lambda: False)
    with scope(tenant_id, read_only=True):
        return ApprovalRequest.objects.get(subject=f"run:{run}", status="pending").pk


def until(tenant_id: UUID, runs: list[UUID], status: str, *, within: float = 120, every: float = 0.02) -> None:
    """Wait until all of them have this state; a look takes a millisecond of both cores, so rarely where both work."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        time.sleep(every)
        with scope(tenant_id, read_only=True):
            left = list(Run.objects.filter(pk__in=runs).exclude(status=status).values_list("status", "reason")[:1])
        if not left:
            return
        if left[0][0] in ("failed", "needs_attention"):
            raise RuntimeError(f"A measured run is {left[0]}.")
    raise TimeoutError(f"Not every run became {status}; one is {left[0]}.")


def took(tenant_id: UUID, run: UUID) -> tuple[float, float]:
    """When the run was first started and when it succeeded, by the database's clock, in seconds."""
    with scope(tenant_id, read_only=True):
        story = Event.objects.filter(subject=f"run:{run}")
        begun = story.filter(name="run.started").order_by("seq").values_list("at", flat=True)[0]
        over = story.get(name="run.succeeded").at
    return begun.timestamp(), over.timestamp()
