"""Take what is due from each way out in turn: thousands that waited for one that is dead hid what waited for others."""

from django.db import migrations, models

from tenants.rls import OwnerFunction

# The ways out that something waits for are found one after the other by the index, never by reading what waits.
DUE_PARCELS = """
CREATE FUNCTION due_parcels(n int) RETURNS TABLE (tenant uuid, id uuid, lane text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  WITH RECURSIVE ways(channel) AS (
    (SELECT d.channel_id FROM public.approvals_delivery d
      WHERE d.status IN ('pending', 'sending') AND d.channel_id IS NOT NULL ORDER BY d.channel_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.channel_id FROM public.approvals_delivery d
             WHERE d.status IN ('pending', 'sending') AND d.channel_id > ways.channel ORDER BY d.channel_id LIMIT 1)
      FROM ways WHERE ways.channel IS NOT NULL
  ), found AS (
    SELECT x.*, row_number() OVER (PARTITION BY x.lane ORDER BY x.due_at) AS turn FROM (
      SELECT each.tenant_id, each.id, each.due_at, ways.channel::text AS lane
        FROM ways CROSS JOIN LATERAL (
             SELECT d.tenant_id, d.id, d.due_at FROM public.approvals_delivery d
              WHERE d.status IN ('pending', 'sending') AND d.channel_id = ways.channel
                AND d.due_at <= statement_timestamp()
              ORDER BY d.due_at LIMIT greatest(n / 5, 1)) AS each
      UNION ALL
      (SELECT d.tenant_id, d.id, d.due_at, d.transport FROM public.approvals_delivery d
        WHERE d.status IN ('pending', 'sending') AND d.channel_id IS NULL AND d.due_at <= statement_timestamp()
        ORDER BY d.due_at LIMIT n)
    ) AS x
  )
  SELECT tenant_id, id, lane FROM found ORDER BY turn, due_at LIMIT n
$$
"""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0017_count_what_was_given_up")]

    operations = [
        migrations.AddIndex(
            "delivery",
            models.Index(
                fields=["channel", "due_at"],
                condition=models.Q(("status__in", ("pending", "sending"))),
                name="deliveries_due_by_way",
            ),
        ),
        migrations.RunSQL("DROP FUNCTION due_parcels(int)", migrations.RunSQL.noop),
        OwnerFunction("due_parcels(int)", DUE_PARCELS),
        migrations.RemoveIndex("delivery", "delivery_due"),
    ]
