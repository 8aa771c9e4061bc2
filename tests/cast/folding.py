"""The events of every run, folded: what they tell is what the rows say."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection

from tenants.models import Tenant
from tenants.scope import scope

RUN = {
    "run.queued": "queued",
    "run.resumed": "queued",
    "run.recovered": "queued",
    "run.started": "running",
    "run.waiting": "waiting_approval",
    "run.sleeping": "sleeping",
    "run.attention": "needs_attention",
    "run.paused": "paused",
    "run.succeeded": "succeeded",
    "run.failed": "failed",
    "run.cancelled": "cancelled",
}
STEP = {
    "step.planned": "planned",
    "step.started": "started",
    "step.retrying": "started",
    "step.completed": "completed",
    "step.failed": "failed",
    "step.unknown": "unknown",
    "step.declined": "declined",
}
SETTLED = {"completed": "completed", "not_done": "not_done", "do_again": "planned"}
REQUEST = {
    "approval.requested": "pending",
    **{f"approval.{end}": end for end in ("approved", "rejected", "responded", "expired", "cancelled", "superseded")},
}
EVENTS = """
SELECT s.subject, seq, name, data FROM tenants_event CROSS JOIN LATERAL (SELECT subject_text(subject) AS subject) s
 WHERE s.subject LIKE 'run:%' ORDER BY s.subject, seq
"""
ROWS = """
SELECT 'run:' || id, 'run', '', status FROM runs_run UNION ALL
SELECT 'run:' || id, 'unsettled', '', unsettled::text FROM runs_run UNION ALL
SELECT 'run:' || run_id, 'step', seq::text, CASE status WHEN 'cancelled' THEN 'declined' ELSE status END FROM runs_step
UNION ALL SELECT subject, 'request', id::text, status FROM approvals_approvalrequest WHERE subject LIKE 'run:%'
"""


def demand_that_events_tell_the_rows(database: "psycopg.Connection[tuple[Any, ...]]") -> int:
    """AssertionError where the committed events of all runs, folded, are not what the rows say; how many rows.

    `database` is a connection that sees the rows of all tenants.
    """
    with database as eyes, eyes.transaction():
        eyes.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return _demand(eyes.execute(EVENTS).fetchall(), eyes.execute(ROWS).fetchall())


def demand_that_events_tell_the_rows_here() -> int:
    """As above, by this process's own connection, in whose transaction it may be; how many rows of all tenants."""
    return sum(_of_tenant(tenant) for tenant in Tenant.objects.values_list("pk", flat=True))


def _of_tenant(tenant: UUID) -> int:
    with scope(tenant), connection.cursor() as cursor:
        cursor.execute(EVENTS)
        events = [(subject, seq, name, json.loads(data)) for subject, seq, name, data in cursor.fetchall()]
        cursor.execute(ROWS)
        return _demand(events, cursor.fetchall())


def _demand(events: Sequence[Any], rows: Sequence[Any]) -> int:
    recorded = {(subject, kind, key): status for subject, kind, key, status in rows}
    runs = {subject for subject, kind, _, _ in rows if kind == "run"}
    told: dict[tuple[str, str, str], str] = {}
    numbers: dict[str, int] = {}
    for subject, seq, name, data in events:
        if subject in runs:
            assert seq == numbers.get(subject, 0) + 1, f"{subject} has a gap before event {seq}"
            numbers[subject] = seq
            told |= {(subject, *key): status for key, status in said(name, data).items()}
    unknown = {subject for (subject, kind, _), status in told.items() if kind == "step" and status == "unknown"}
    told |= {(subject, "unsettled", ""): str(subject in unknown).lower() for subject in numbers}
    rows_say = {key: status for key, status in recorded.items() if key[0] in runs}
    apart = {key: (told.get(key), rows_say.get(key)) for key in told | rows_say if told.get(key) != rows_say.get(key)}
    assert not apart, f"told by events, said by rows: {apart}"
    return len(recorded)


def said(name: str, data: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Which state this event brings about, and of what."""
    if name in RUN:
        return {("run", ""): RUN[name]}
    if name in STEP:
        return {("step", str(data["step"])): STEP[name]}
    if name == "step.settled":
        return {("step", str(data["step"])): SETTLED[data["outcome"]]}
    if name in REQUEST:
        return {("request", str(data["request"])): REQUEST[name]}
    return {}
