"""Ask for what is due by a clock that stands still within a statement: no index is entered by one that runs on."""

from typing import ClassVar

from django.db import migrations

from tenants.rls import OwnerFunction

DUE_REQUESTS = """
CREATE FUNCTION due_requests(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT found.tenant_id, found.id
    FROM public.tenants_tenant t
   CROSS JOIN LATERAL (
         SELECT x.tenant_id, x.id, x.due_at, row_number() OVER (ORDER BY x.due_at) AS turn
           FROM ((SELECT r.tenant_id, r.id, r.due_at FROM public.approvals_approvalrequest r
                   WHERE r.tenant_id = t.id AND r.status = 'pending' AND r.due_at <= statement_timestamp()
                   ORDER BY r.due_at LIMIT n)
                 UNION
                 (SELECT r.tenant_id, r.id, r.due_at FROM public.approvals_approvalrequest r
                   WHERE r.tenant_id = t.id AND r.status = 'pending' AND r.asked_stamp < t.stamp LIMIT n)) AS x) AS found
   ORDER BY found.turn, found.due_at LIMIT n
$$
"""

# The oldest first, and of one way out no more than a fifth: one that is slow leaves room for the others.
DUE_PARCELS = """
CREATE FUNCTION due_parcels(n int) RETURNS TABLE (tenant uuid, id uuid, lane text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT tenant_id, id, lane FROM (
    SELECT d.tenant_id, d.id, d.due_at, coalesce(d.channel_id::text, d.transport) AS lane,
      row_number() OVER (PARTITION BY coalesce(d.channel_id::text, d.transport) ORDER BY d.due_at) AS place
    FROM (
      SELECT * FROM public.approvals_delivery
      WHERE status IN ('pending', 'sending') AND due_at <= statement_timestamp() ORDER BY due_at LIMIT 20 * n
    ) d
  ) found WHERE lane = 'email' OR place <= greatest(n / 5, 1) ORDER BY due_at LIMIT n
$$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0012_fewer_indexes")]

    operations: ClassVar = [
        migrations.RunSQL("DROP FUNCTION due_requests(int)", migrations.RunSQL.noop),
        OwnerFunction("due_requests(int)", DUE_REQUESTS),
        migrations.RunSQL("DROP FUNCTION due_parcels(int)", migrations.RunSQL.noop),
        OwnerFunction("due_parcels(int)", DUE_PARCELS),
    ]
