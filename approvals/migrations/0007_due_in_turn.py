"""What is due by turns of the tenants: ten thousand of one tenant keep no other's waiting."""

from typing import ClassVar

from django.db import migrations, models

from tenants.rls import OwnerFunction

DUE_REQUESTS = """
CREATE FUNCTION due_requests(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT found.tenant_id, found.id
    FROM public.tenants_tenant t
   CROSS JOIN LATERAL (
         SELECT x.tenant_id, x.id, x.due_at, row_number() OVER (ORDER BY x.due_at) AS turn
           FROM ((SELECT r.tenant_id, r.id, r.due_at FROM public.approvals_approvalrequest r
                   WHERE r.tenant_id = t.id AND r.status = 'pending' AND r.due_at <= clock_timestamp()
                   ORDER BY r.due_at LIMIT n)
                 UNION
                 (SELECT r.tenant_id, r.id, r.due_at FROM public.approvals_approvalrequest r
                   WHERE r.tenant_id = t.id AND r.status = 'pending' AND r.asked_stamp < t.stamp LIMIT n)) AS x) AS found
   ORDER BY found.turn, found.due_at LIMIT n
$$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0006_end_and_climb")]

    operations: ClassVar = [
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(
                fields=["tenant", "due_at"], condition=models.Q(("status", "pending")), name="request_due_in_turn"
            ),
        ),
        migrations.RemoveIndex(model_name="approvalrequest", name="request_due"),
        migrations.RunSQL("DROP FUNCTION due_requests(int)", migrations.RunSQL.noop),
        OwnerFunction("due_requests(int)", DUE_REQUESTS),
    ]
