"""Whether asking works and whether the reviewing is real, counted by PostgreSQL over a bounded time."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeVar

from django.db import connection

T = TypeVar("T")
WRONG_LOOKED_AT = 2000
"""How many approved requests, the newest, are followed to what became of them."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """What is counted: requests made from `start` to before `end`, of these agents and groups; `shut` are not."""

    start: datetime
    end: datetime
    agent: str = ""
    group: str = ""
    """A group's id: requests that ask it."""
    shut: Sequence[str] = ()


@dataclass(frozen=True)
class Asking:
    """Requests by `kind`: all, tool, risk or group. Times are seconds, of those that people answered."""

    kind: str
    name: str
    asked: int
    answered: int
    half: float | None
    nine: float | None
    rejected: int
    edited: int
    expired: int
    unseen: int
    raised: int
    turned: int
    """Those that somebody approved and somebody refused."""


@dataclass(frozen=True)
class Reviewing:
    """The answers of a group's members: how long each had the page on the screen. `blind`: never opened it."""

    group: str
    answers: int
    under: int
    middle: int
    over: int
    blind: int
    refused: int
    """Rejected, edited, or answered in the tool's place."""


@dataclass(frozen=True)
class Waiting:
    """Open requests that ask members of a group now."""

    group: str
    requests: int
    oldest: datetime


@dataclass(frozen=True)
class Wrong:
    """What became of the calls that were approved, of at most the newest WRONG_LOOKED_AT."""

    looked_at: int
    failed: int
    unknown: int


@dataclass(frozen=True)
class Settling:
    """Unknown outcomes that were settled: how many, and within which seconds half and nine tenths of them."""

    settled: int
    half: float | None
    nine: float | None


# An actor is kept as [kind, id, name, member], or whole in rows from before.
# `request_list` begins with tenant and status: naming every status lets its range of time be read alone.
_ASKED = """
WITH asked AS MATERIALIZED (
  SELECT r.id, r.tool, r.risk, r.status, r.decision, r.escalation_level, r.subject, r.ref,
    jsonb_path_query_array(
      coalesce(w.body, r.requirement), '$.demands[*].places[*] ? (@.kind == "group").key') AS groups,
    CASE WHEN r.status IN ('approved', 'rejected', 'responded')
      AND coalesce(r.decided_by ->> 3, r.decided_by ->> 'member') IS NOT NULL
      THEN extract(epoch FROM r.decided_at - r.opened_at)::float8 END AS took
  FROM approvals_approvalrequest r LEFT JOIN approvals_wording w ON w.digest = r.requirement_digest
  WHERE r.status = ANY (ARRAY['pending', 'approved', 'rejected', 'responded', 'expired', 'cancelled'])
    AND r.opened_at >= %(start)s AND r.opened_at < %(end)s
    AND (%(agent)s = '' OR r.agent = %(agent)s) AND r.agent <> ALL (%(shut)s::text[])
    AND (%(group)s = '' OR jsonb_path_exists(coalesce(w.body, r.requirement),
      '$.demands[*].places[*] ? (@.kind == "group" && @.key == $g)', jsonb_build_object('g', %(group)s::text)))
)"""
_COUNTS = """count(*), count(took),
  percentile_disc(0.5) WITHIN GROUP (ORDER BY took), percentile_disc(0.9) WITHIN GROUP (ORDER BY took),
  count(*) FILTER (WHERE status = 'rejected'), count(*) FILTER (WHERE decision = 'edit'),
  count(*) FILTER (WHERE status = 'expired'),
  count(*) FILTER (WHERE status = 'expired' AND NOT seen),
  count(*) FILTER (WHERE escalation_level > 0 AND status <> 'pending'),
  count(*) FILTER (WHERE turned)"""
_ASKINGS = f"""{_ASKED}, told AS MATERIALIZED (
  SELECT a.*, EXISTS (SELECT FROM approvals_viewing v WHERE v.request_id = a.id) AS seen,
    (SELECT count(DISTINCT v.decision IN ('approve', 'edit')) > 1 FROM approvals_review v WHERE v.request_id = a.id)
      AS turned
  FROM asked a
)
SELECT CASE WHEN grouping(tool) = 0 THEN 'tool' WHEN grouping(risk) = 0 THEN 'risk' ELSE 'all' END,
  coalesce(tool, risk, ''), {_COUNTS}
FROM told GROUP BY GROUPING SETS ((), (tool), (risk))
UNION ALL
SELECT 'group', g.name, {_COUNTS}
FROM told JOIN tenants_group g ON told.groups ? g.id::text
GROUP BY g.id, g.name
"""  # noqa: S608  # Made of our own words.
_REVIEWING = f"""{_ASKED}, given AS MATERIALIZED (
  SELECT v.id, v.member_id, v.decision, extract(epoch FROM v.at - w.since)::float8 AS took
  FROM asked a JOIN approvals_review v ON v.request_id = a.id AND v.channel <> 'carried'
  LEFT JOIN approvals_viewing w ON w.request_id = a.id AND w.member_id = v.member_id AND w.since <= v.at
)
SELECT coalesce(g.name, ''), count(*), count(*) FILTER (WHERE took < 3),
  count(*) FILTER (WHERE took >= 3 AND took <= 30), count(*) FILTER (WHERE took > 30),
  count(*) FILTER (WHERE took IS NULL), count(*) FILTER (WHERE decision <> 'approve')
FROM given LEFT JOIN tenants_groupmember m ON m.member_id = given.member_id
LEFT JOIN tenants_group g ON g.id = m.group_id
GROUP BY g.id, g.name ORDER BY count(*) DESC, 1
"""  # noqa: S608
_WAITING = """
SELECT coalesce(g.name, ''), count(DISTINCT r.id), min(a.since)
FROM approvals_approvalrequest r JOIN approvals_asked a ON a.request_id = r.id AND a.until IS NULL
LEFT JOIN tenants_groupmember m ON m.member_id = a.member_id LEFT JOIN tenants_group g ON g.id = m.group_id
WHERE r.status = 'pending' AND (%(agent)s = '' OR r.agent = %(agent)s) AND r.agent <> ALL (%(shut)s::text[])
  AND (%(group)s = '' OR g.id::text = %(group)s)
GROUP BY g.id, g.name ORDER BY 3, 1
"""
_WRONG = f"""{_ASKED}, approved AS MATERIALIZED (
  SELECT subject, ref FROM asked WHERE status = 'approved' ORDER BY id DESC LIMIT {WRONG_LOOKED_AT}
)
SELECT count(*), count(*) FILTER (WHERE last = 'step.failed'), count(*) FILTER (WHERE last = 'step.unknown')
FROM approved p LEFT JOIN LATERAL (
  SELECT e.name AS last FROM tenants_event e
  WHERE e.subject = subject_bytes(p.subject)
    AND e.name IN ('step.completed', 'step.failed', 'step.unknown', 'step.settled')
    AND e.data ->> 'step' = p.ref
  ORDER BY e.seq DESC LIMIT 1
) e ON true
"""  # noqa: S608

# The first event of a run, which names its agent, is that of its start.
_SETTLING = """
SELECT count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY took), percentile_disc(0.9) WITHIN GROUP (ORDER BY took)
FROM (
  SELECT extract(epoch FROM e.at - u.at)::float8 AS took
  FROM tenants_event e JOIN LATERAL (
    SELECT b.at FROM tenants_event b
    WHERE b.subject = e.subject AND b.seq < e.seq AND b.name = 'step.unknown'
      AND b.data ->> 'step' = e.data ->> 'step'
    ORDER BY b.seq DESC LIMIT 1
  ) u ON true JOIN tenants_event f ON f.subject = e.subject AND f.seq = 1
  WHERE e.name = 'step.settled' AND e.at >= %(start)s AND e.at < %(end)s
    AND e.subject IN (SELECT a.target FROM tenants_auditentry a
                       WHERE a.action = 'run.settled' AND NOT a.refused AND a.at >= %(start)s)
    AND (%(agent)s = '' OR f.data ->> 'agent' = %(agent)s)
    AND coalesce(f.data ->> 'agent', '') <> ALL (%(shut)s::text[])
) each
"""


def askings(span: Span) -> list[Asking]:
    """The requests in all, by tool, by risk and by the groups they ask; one statement."""
    return _rows(Asking, _ASKINGS, span)


def reviewings(span: Span) -> list[Reviewing]:
    """The answers to them by the groups of those who gave them; one in no group stands under ""."""
    return _rows(Reviewing, _REVIEWING, span)


def waitings(span: Span) -> list[Waiting]:
    """What waits now, whenever it was asked, by group; the longest wait first."""
    return _rows(Waiting, _WAITING, span)


def settling(span: Span) -> Settling:
    """How long it took to settle what was settled in this time; managers settle, whichever group is looked at."""
    return _rows(Settling, _SETTLING, span)[0]


def wrong(span: Span) -> Wrong:
    """What became of what was approved."""
    return _rows(Wrong, _WRONG, span)[0]


def _rows(shape: type[T], query: str, span: Span) -> list[T]:
    values: dict[str, Any] = {each.name: getattr(span, each.name) for each in fields(span)} | {"shut": list(span.shut)}
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return [shape(*row) for row in cursor.fetchall()]
