"""The doors through which the sweep learns what is due in all tenants: ids only, taken from the tenants in turn."""

from typing import ClassVar

from django.db import migrations

from tenants.rls import OwnerFunction

# A window ten times as large as what is asked for, from which the tenants take turns.
DUE = """
CREATE FUNCTION due_{kind}(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT w.tenant, w.id FROM (
    SELECT d.tenant, d.id, row_number() OVER (PARTITION BY d.tenant ORDER BY d.at) AS turn, d.at
      FROM ({rows} LIMIT n * 10) AS d) AS w
  ORDER BY w.turn, w.at LIMIT n
$$
"""

RUNS = """
    SELECT r.tenant_id AS tenant, r.id, r.due_at AS at FROM public.runs_run r
     WHERE r.due_at <= clock_timestamp() ORDER BY r.due_at
"""

LEASES = """
    SELECT l.tenant_id AS tenant, l.run_id AS id, l.until AS at FROM public.runs_lease l
     WHERE l.until <= clock_timestamp() ORDER BY l.until
"""

DEADLINES = """
    SELECT r.tenant_id AS tenant, r.id, r.deadline AS at FROM public.runs_run r
     WHERE r.deadline <= clock_timestamp() AND r.status NOT IN ('succeeded', 'failed', 'cancelled') ORDER BY r.deadline
"""

STRANDED = """
CREATE FUNCTION due_stranded(n int, grace double precision) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT r.tenant_id, r.id FROM public.runs_run r
    LEFT JOIN public.runs_agentversion v ON v.agent = r.agent AND v.version = r.version
   WHERE r.due_at <= clock_timestamp() AND r.status = 'queued'
     AND coalesce(v.known_until, r.created_at) < clock_timestamp() - make_interval(secs => grace)
   ORDER BY r.due_at LIMIT n
$$
"""

FITTING = """
CREATE FUNCTION due_fitting(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT r.tenant_id, r.id FROM public.runs_run r
    JOIN public.runs_agentversion v ON v.agent = r.agent AND v.version = r.version
   WHERE r.status = 'needs_attention' AND r.reason = 'version' AND v.known_until > clock_timestamp()
   ORDER BY r.updated_at LIMIT n
$$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0002_row_security_states_and_boundaries")]
    operations: ClassVar = [
        OwnerFunction("due_runs(int)", DUE.format(kind="runs", rows=RUNS)),
        OwnerFunction("due_leases(int)", DUE.format(kind="leases", rows=LEASES)),
        OwnerFunction("due_deadlines(int)", DUE.format(kind="deadlines", rows=DEADLINES)),
        OwnerFunction("due_stranded(int, double precision)", STRANDED),
        OwnerFunction("due_fitting(int)", FITTING),
        migrations.RunSQL(
            "CREATE INDEX run_stranded ON runs_run (updated_at) WHERE status = 'needs_attention' AND reason = 'version'",
            "DROP INDEX run_stranded",
        ),
    ]
