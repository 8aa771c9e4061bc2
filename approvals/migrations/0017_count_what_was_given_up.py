"""Let the metrics say what could not be delivered, by a partial index over that alone."""

from django.db import migrations, models

from tenants.rls import OwnerFunction

COUNT_GIVEN_UP = """
CREATE FUNCTION count_given_up() RETURNS TABLE (name text, value bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT 'deliveries_given_up_' || transport, count(*) FROM public.approvals_delivery
  WHERE status = 'given_up' AND attempts > 0 AND NOT error = 'no longer needed'
    AND created_at > now() - interval '24 hours'
  GROUP BY transport
$$
"""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0016_count_refused_callbacks")]

    operations = [
        migrations.AddIndex(
            "delivery",
            models.Index(
                fields=["created_at"],
                condition=models.Q(("attempts__gt", 0), ("status", "given_up")),
                name="deliveries_tried_in_vain",
            ),
        ),
        OwnerFunction("count_given_up()", COUNT_GIVEN_UP),
    ]
