"""The numbers over all tenants that the metrics page shows: one door of the owner, by way of partial indexes."""

from typing import ClassVar

from django.db import migrations

from tenants.rls import OwnerFunction

COUNT_ALL = """
CREATE FUNCTION count_all() RETURNS TABLE (name text, value bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  WITH unfinished AS (
    SELECT status, due_at FROM public.runs_run WHERE NOT status IN ('cancelled', 'failed', 'succeeded')
  ), pending AS (
    SELECT due_at FROM public.approvals_approvalrequest WHERE status = 'pending'
  ), leaving AS (
    SELECT due_at FROM public.approvals_delivery WHERE status IN ('pending', 'sending')
  ), waits (what, n, since) AS (
    SELECT 'runs', count(*), min(due_at) FROM unfinished WHERE due_at <= now()
    UNION ALL SELECT 'approval_requests', count(*), min(due_at) FROM pending WHERE due_at <= now()
    UNION ALL SELECT 'deliveries', count(*), min(due_at) FROM leaving WHERE due_at <= now()
  )
  SELECT 'runs_' || status, count(*) FROM unfinished GROUP BY status
  UNION ALL SELECT 'approval_requests_pending', count(*) FROM pending
  UNION ALL SELECT 'deliveries_pending', count(*) FROM leaving
  UNION ALL SELECT 'steps_unknown', count(*) FROM public.runs_step WHERE unknown_since IS NOT NULL
  UNION ALL SELECT 'leases_held', count(*) FROM public.runs_lease WHERE until > now()
  UNION ALL SELECT what || '_overdue', n FROM waits
  UNION ALL SELECT what || '_overdue_seconds', coalesce(extract(epoch FROM now() - since), 0)::bigint FROM waits
$$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("runs", "0004_purge_what_is_past_its_time"),
        ("approvals", "0004_what_comes_next"),
    ]

    operations: ClassVar = [OwnerFunction("count_all()", COUNT_ALL)]
