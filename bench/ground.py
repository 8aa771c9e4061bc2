"""A tenant, its runs, and the floor they are measured against."""

import time
from uuid import UUID, uuid4

import psycopg

from bench.place import connect
from runs import commands
from runs.models import Run
from tenants import agents, founding
from tenants.actors import COMMAND
from tenants.models import Event
from tenants.scope import scope

BODY = "x" * 500


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


def until(tenant_id: UUID, runs: list[UUID], status: str, *, within: float = 120) -> None:
    """Wait until all of them have this state."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        with scope(tenant_id, read_only=True):
            left = list(Run.objects.filter(pk__in=runs).exclude(status=status).values_list("status", "reason")[:1])
        if not left:
            return
        if left[0][0] in ("failed", "needs_attention"):
            raise RuntimeError(f"A measured run is {left[0]}.")
        time.sleep(0.02)
    raise TimeoutError(f"Not every run became {status}; one is {left[0]}.")


def took(tenant_id: UUID, run: UUID) -> tuple[float, float]:
    """When the run was first started and when it succeeded, by the database's clock, in seconds."""
    with scope(tenant_id, read_only=True):
        story = Event.objects.filter(subject=f"run:{run}")
        begun = story.filter(name="run.started").order_by("seq").values_list("at", flat=True)[0]
        over = story.get(name="run.succeeded").at
    return begun.timestamp(), over.timestamp()


def make_floor() -> None:
    """The table of the bare loop."""
    owner = connect("owner")
    owner.execute("CREATE TABLE IF NOT EXISTS floor (id bigserial PRIMARY KEY, run uuid, step int, body text)")
    owner.execute("GRANT ALL ON floor TO PUBLIC")
    owner.execute("GRANT ALL ON SEQUENCE floor_id_seq TO PUBLIC")
    owner.close()


def insert(connection: "psycopg.Connection[tuple[object, ...]]", steps: int) -> float:
    """The bare loop: INSERT 500 bytes and commit, once a step; seconds for all."""
    run = uuid4()
    began = time.perf_counter()
    for step in range(steps):
        connection.execute("INSERT INTO floor (run, step, body) VALUES (%s, %s, %s)", (run, step, BODY))
    return time.perf_counter() - began
