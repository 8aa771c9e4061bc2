"""W7: ten thousand requests fall due at once: how fast a worker looks at them, and what pages take meanwhile.

Whether any is left is asked by its existence, five times a second at most: counting them all would be work of its own.
"""

import os
import statistics
import time
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.test import Client

from approvals import escalation_policies, rules
from approvals.models import ApprovalRequest
from bench import clones, floor, ground, place
from bench.report import Measured
from bench.workers import workers
from config.celery import app
from tenants import members
from tenants.actors import COMMAND
from tenants.models import Member
from tenants.scope import scope

REQUESTS = int(os.environ.get("BENCH_DUE", "10000"))
PATIENCE = 1200.0
PAGES = ("/t/w7/inbox/", "/t/w7/runs/")


def measure(base: Path) -> list[Measured]:
    """Half of them expire, half climb a level; the sweep runs in a worker of its own, the pages here."""
    tenant = ground.tenant("w7")
    ground.announced()
    place.make_floor()
    client = _signed_in(_people(tenant))
    _park(tenant, REQUESTS // 2)
    with scope(tenant):
        rules.create_rule(actor=COMMAND, name="Levels", approvals=1, escalation_policy="Levels")
    _park(tenant, REQUESTS // 2)
    quiet = statistics.median(_page(client, number) for number in range(20))
    before = floor.rate(300)
    clones.fall_due()
    with workers(base, 1):
        seconds, pages = _swept(tenant, client)
    rate, bare = REQUESTS / seconds, (before + floor.rate(300)) / 2
    slow = statistics.quantiles(pages, n=20)[18]
    return [
        Measured("W7 due at once", rate, "requests/s", rate / bare, "the bare loop on eight connections"),
        Measured("W7 page p95", slow * 1000, "ms", slow / quiet, "the median of the same pages when nothing is due"),
    ]


def _people(tenant: UUID) -> Member:
    """Four reviewers, one of them a manager, and a policy that asks that one after an hour."""
    with scope(tenant):
        for number in range(3):
            members.add(f"r{number}@bench.example", actor=COMMAND, roles=["reviewer"])
        lead = members.add("lead@bench.example", actor=COMMAND, roles=["reviewer", "manager"])
        level = {"after": 3600, "members": [lead.email]}
        escalation_policies.create(actor=COMMAND, name="Levels", levels=[level])
    return lead


def _signed_in(member: Member) -> Client:
    settings.ALLOWED_HOSTS.append("testserver")
    client = Client()
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def _park(tenant: UUID, count: int) -> None:
    request = ground.parked(tenant)
    with scope(tenant, read_only=True):
        run = ApprovalRequest.objects.get(pk=request).subject.removeprefix("run:")
    clones.parked(UUID(run), request, times=count - 1)


def _swept(tenant: UUID, client: Client) -> tuple[float, list[float]]:
    """Seconds until nothing is due, the sweep being told each second as beat does; seconds of each page meanwhile."""
    began, pages, told = time.monotonic(), list[float](), 0.0
    while _any_left(tenant):
        if time.monotonic() - began > PATIENCE:
            raise TimeoutError("Requests are still due.")
        if time.monotonic() - told > 1:
            told = time.monotonic()
            app.send_task("approvals.tasks.sweep")
        pages.append(_page(client, len(pages)))
        time.sleep(0.2)
    return time.monotonic() - began, pages


def _any_left(tenant: UUID) -> bool:
    with scope(tenant, read_only=True):
        return ApprovalRequest.objects.filter(status="pending", escalation_level=0).exists()


def _page(client: Client, number: int) -> float:
    began = time.perf_counter()
    response = client.get(PAGES[number % len(PAGES)])
    if response.status_code != 200:
        raise RuntimeError(f"A page answered {response.status_code}.")
    return time.perf_counter() - began
