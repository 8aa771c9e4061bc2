"""The events of every run, folded: what they tell is what the rows say."""

from collections.abc import Mapping
from typing import Any

from tests.harness.database import NAME, owner

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
SELECT 'run:' || run_id, 'step', seq::text, CASE status WHEN 'cancelled' THEN 'declined' ELSE status END FROM runs_step
UNION ALL SELECT subject, 'request', id::text, status FROM approvals_approvalrequest WHERE subject LIKE 'run:%'
"""


def folded_and_recorded() -> tuple[dict[tuple[str, str, str], str], dict[tuple[str, str, str], str]]:
    """The states of all runs, their steps and requests, as the events tell them and as the rows say, at one moment."""
    with owner(NAME) as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        rows = connection.execute(ROWS).fetchall()
        events = connection.execute(EVENTS).fetchall()
    recorded = {(subject, kind, key): status for subject, kind, key, status in rows}
    runs = {subject for subject, kind, _, _ in rows if kind == "run"}
    told: dict[tuple[str, str, str], str] = {}
    numbers: dict[str, int] = {}
    for subject, seq, name, data in events:
        if subject in runs:
            assert seq == numbers.get(subject, 0) + 1, f"{subject} has a gap before event {seq}"
            numbers[subject] = seq
            told |= {(subject, *key): status for key, status in _said(name, data).items()}
    return told, {key: status for key, status in recorded.items() if key[0] in runs}


def _said(name: str, data: Mapping[str, Any]) -> dict[tuple[str, str], str]:
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
