"""Look again at what is open when people, roles, groups or absences changed."""

from django.db import migrations, models

from tenants.rls import OwnerFunction

DUE_REQUESTS = """
CREATE FUNCTION due_requests(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT found.tenant_id, found.id FROM (
    (SELECT r.tenant_id, r.id, r.due_at FROM public.approvals_approvalrequest r
     WHERE r.status = 'pending' AND r.due_at <= clock_timestamp() ORDER BY r.due_at LIMIT n)
    UNION
    (SELECT r.tenant_id, r.id, r.due_at FROM public.tenants_tenant t
     JOIN public.approvals_approvalrequest r ON r.tenant_id = t.id AND r.asked_stamp < t.stamp
     WHERE r.status = 'pending' LIMIT n)
  ) found ORDER BY found.due_at LIMIT n
$$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0002_row_security_states_and_doors"),
        ("tenants", "0002_row_security_and_doors"),
    ]

    operations = [
        migrations.AddField(
            model_name="approvalrequest",
            name="asked_stamp",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(
                condition=models.Q(("status", "pending")), fields=["tenant", "asked_stamp"], name="request_ask_again"
            ),
        ),
        migrations.RunSQL("DROP FUNCTION due_requests(int)", migrations.RunSQL.noop),
        OwnerFunction("due_requests(int)", DUE_REQUESTS),
    ]
