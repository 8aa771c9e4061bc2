"""W3: a decision committed → the first line of the approved tool, against Celery's own enqueue → start."""

import os
import statistics
import time
from pathlib import Path
from uuid import UUID

from django.db import transaction

from approvals import decisions
from approvals.models import ApprovalRequest
from bench import ground
from bench.report import Measured
from bench.workers import workers
from config.celery import app
from tenants import members
from tenants.actors import COMMAND, Actor
from tenants.scope import scope

TIMES = 100
WARM = 10


def measure(base: Path) -> list[Measured]:
    """One approval and one empty task by turns; medians and 95th percentiles of both."""
    os.environ["BENCH_STAMPS"] = str(base / "stamps")
    stamps = Path(os.environ["BENCH_STAMPS"])
    stamps.touch()
    tenant = ground.tenant("w3")
    with scope(tenant):
        reviewer = members.actor_of(members.add("reviewer@bench.example", actor=COMMAND, roles=["reviewer"]))
    ours, theirs = [], []
    with workers(base, 1):
        for number in range(TIMES + WARM):
            ours.append(_approved(tenant, reviewer, stamps, number))
            theirs.append(_enqueued(stamps, -1 - number))
    return [
        _measured("W3 p50", ours[WARM:], theirs[WARM:], 50),
        _measured("W3 p95", ours[WARM:], theirs[WARM:], 95),
    ]


def _measured(name: str, ours: list[float], theirs: list[float], percent: int) -> Measured:
    mine, other = (statistics.quantiles(each, n=100)[percent - 1] for each in (ours, theirs))
    return Measured(name, mine * 1000, "ms", mine / other, "Celery's own enqueue → start on the same broker")


def _approved(tenant: UUID, reviewer: Actor, stamps: Path, number: int) -> float:
    run = ground.start(tenant, "gated", str(number))
    ground.until(tenant, [run], "waiting_approval")
    committed: list[int] = []
    with transaction.atomic():
        transaction.on_commit(lambda: committed.append(time.time_ns()))
        with scope(tenant):
            request = ApprovalRequest.objects.get(subject=f"run:{run}", status="pending")
        values = {"decision": "approve", "version": request.version, "channel": "api"}
        decisions.decide(request.pk, tenant=tenant, actor=reviewer, **values)
    began = _seen(stamps, number)
    ground.until(tenant, [run], "succeeded")
    return (began - committed[0]) / 1e9


def _enqueued(stamps: Path, number: int) -> float:
    sent = time.time_ns()
    app.send_task("bench.stamp", args=[number])
    return (_seen(stamps, number) - sent) / 1e9


def _seen(stamps: Path, number: int) -> int:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for line in stamps.read_text().splitlines()[-3:]:
            found, _space, at = line.partition(" ")
            if found == str(number) and at:
                return int(at)
        time.sleep(0.001)
    raise TimeoutError("The tool did not begin.")
