"""W5: what a parked run costs in the database, and the sweeps over a million unfinished runs when nothing is due."""

import statistics
import time
from pathlib import Path
from uuid import UUID

from bench import ground, place
from bench.report import Measured
from bench.workers import workers
from tenants import members
from tenants.actors import COMMAND
from tenants.scope import scope

PARKED = 1000
ROUND = 100
KINDS = {"journal": "runs_", "events": "tenants_event", "audit": "tenants_audit", "question": "approvals_"}
"""The beginnings of the tables of each kind."""
ALLOWED_BYTES = 6 * 1024
UNFINISHED = 1_000_000
TENANTS = 50
ALLOWED_SECONDS = 0.02
SWEEPS = {
    "runs": "SELECT * FROM due_runs(200)",
    "leases": "SELECT * FROM due_leases(200)",
    "deadlines": "SELECT * FROM due_deadlines(200)",
    "answers": "SELECT * FROM due_answers(200, interval '1 hour')",
    "requests": "SELECT * FROM due_requests(200)",
}


def measure(base: Path) -> list[Measured]:
    """Bytes a parked run, in all and by kind; then each sweep's median time."""
    found = _parked(base)
    _fill()
    application = place.connect()
    for name, query in SWEEPS.items():
        took = statistics.median(_timed(application, query) for _ in range(15))
        against = f"{ALLOWED_SECONDS * 1000:.0f} ms, with {UNFINISHED:,} unfinished runs of {TENANTS} tenants"
        found.append(Measured(f"W5 sweep {name}", took * 1000, "ms", took / ALLOWED_SECONDS, against))
    application.close()
    return found


def _parked(base: Path) -> list[Measured]:
    """What the runs add to the database. Between two rounds of them it is vacuumed, as it is while days go by."""
    tenant = ground.tenant("w5")
    with scope(tenant):
        for name in ("one", "two"):
            members.add(f"{name}@bench.example", actor=COMMAND, roles=["reviewer"])
    with workers(base, 1):
        _park(tenant, ROUND)
        before = _bytes()
        for _ in range(PARKED // ROUND):
            _park(tenant, ROUND)
            after = _bytes()
    grown = {kind: (size - before.get(kind, 0)) / PARKED for kind, size in after.items()}
    whole = sum(grown.values())
    return [
        Measured("W5 parked", whole, "bytes/run", whole / ALLOWED_BYTES, f"{ALLOWED_BYTES} bytes"),
        *[
            Measured(f"W5 parked: {kind}", each, "bytes/run", each / whole, "the whole of a parked run")
            for kind, each in sorted(grown.items(), key=lambda pair: -pair[1])
            if each
        ],
    ]


def _park(tenant: UUID, count: int) -> None:
    runs = [ground.start(tenant, "gated", str(number)) for number in range(count)]
    ground.until(tenant, runs, "waiting_approval", within=600)


def _bytes() -> dict[str, int]:
    """Tables with their indexes as vacuum leaves them, by what they are for."""
    owner = place.connect("owner")
    owner.execute("VACUUM")
    found: dict[str, int] = {}
    for table, size in owner.execute(_SIZES).fetchall():
        kind = next((kind for kind, begins in KINDS.items() if str(table).startswith(begins)), "other")
        found[kind] = found.get(kind, 0) + int(str(size))
    owner.close()
    return found


_SIZES = """
SELECT relname, pg_total_relation_size(oid) FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""


def _fill() -> None:
    """A million runs that wait, each with a deadline tomorrow, a lease nobody holds and a pending request."""
    owner = place.connect("owner")
    for number in range(TENANTS):
        owner.execute(_TENANT, (_tenant(number), f"filled-{number}"))
    owner.execute("ALTER TABLE runs_run DISABLE TRIGGER state")
    owner.execute(_RUNS.format(each=UNFINISHED // TENANTS, tenants=TENANTS))
    owner.execute(
        "INSERT INTO runs_lease (tenant_id, run_id, fence, holder, worked, crashes, crash_seq)"
        " SELECT tenant_id, id, 1, '', 0, 0, 0 FROM runs_run WHERE agent = 'filled'"
    )
    owner.execute("ALTER TABLE runs_run ENABLE TRIGGER state")
    owner.execute("ALTER TABLE approvals_approvalrequest DISABLE TRIGGER request_states")
    owner.execute(_REQUESTS)
    owner.execute("ALTER TABLE approvals_approvalrequest ENABLE TRIGGER request_states")
    owner.execute("VACUUM ANALYZE")
    owner.close()


_TENANT = """
INSERT INTO tenants_tenant (id, slug, name, timezone, locale, initiators_may_review, second_factor, retention_days,
                            notifications, stamp)
VALUES (%s::text::uuid, %s, 'filled', 'UTC', 'en', false, false, 365, '{}', 0)
"""
_RUNS = """
INSERT INTO runs_run (id, tenant_id, agent, version, title, status, reason, labels, initiators, started_by, budget,
                      deadline, due_at)
SELECT gen_random_uuid(), ('00000000-0000-7000-8000-' || lpad((n % {tenants})::text, 12, '0'))::uuid, 'filled', '1', '',
       (ARRAY['waiting_approval', 'sleeping', 'needs_attention', 'paused'])[1 + n % 4], '',
       '{{}}', '{{}}', '{{}}', '{{}}', now() + interval '1 day', CASE WHEN n % 4 < 2 THEN now() + interval '1 day' END
  FROM generate_series(1, {each} * {tenants}) AS n
"""

_REQUESTS = """
INSERT INTO approvals_approvalrequest (id, tenant_id, subject, ref, status, version, round, escalation_level, rung,
  tool, tool_title, agent, agent_version, risk, effect, fingerprint, proposed_arguments, rationale, initiators,
  initiator, labels, run, evidence_error, flags, precedents, definition, requirement, deadline, due_at, next_at, short,
  asked_stamp, decision, comment, response)
SELECT gen_random_uuid(), tenant_id, 'run:' || id, '2', 'pending', 1, 0, 0, 0, 'filled', 'Filled', 'filled', '1',
  'high', 'keyed', '', '', '', '{}', '{}', '{}', '{}', '', '[]', '{}', '{}', '{"on_timeout": "expire"}',
  deadline, deadline, deadline, 0, 0, '', '', ''
  FROM runs_run WHERE agent = 'filled'
"""


def _tenant(number: int) -> str:
    return f"00000000-0000-7000-8000-{number:012}"


def _timed(connection: object, query: str) -> float:
    began = time.perf_counter()
    connection.execute(query).fetchall()  # type: ignore[attr-defined]
    return time.perf_counter() - began
