"""Say of the events of a run that they were appended, and let no trigger ask after each statement who hears them."""

from typing import ClassVar

from django.db import migrations

from runs import functions
from tenants.tables import TakeTables

# Here, since an earlier migration of runs put its own in the place of the first one.
_APPEND = """
CREATE OR REPLACE FUNCTION event_append(
  p_tenant uuid, p_subject text, p_name text, p_actor jsonb, p_message text, p_data jsonb
) RETURNS bigint LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
  v_subject bytea := subject_bytes(p_subject);
  v_seq bigint;
BEGIN
  INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
  SELECT p_tenant, v_subject,
    coalesce((SELECT max(e.seq) FROM tenants_event e WHERE e.tenant_id = p_tenant AND e.subject = v_subject), 0) + 1,
    p_name, clock_timestamp(), p_actor, p_message, p_data
  RETURNING seq INTO v_seq;
  PERFORM events_appended(p_tenant, v_subject, v_seq, v_seq);
  RETURN v_seq;
END $$
"""
_NO_TRIGGER = "DROP FUNCTION events_to_webhooks() CASCADE; DROP FUNCTION event_to_webhooks()"


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("runs", "0021_purge_under_each_lock"),
        ("approvals", "0029_webhooks_hear_where_events_are_appended"),
    ]

    operations: ClassVar = [
        TakeTables("tenants_event"),
        migrations.RunSQL(
            [(_APPEND, None), *((statement, None) for statement in functions.anew(("leases", "boundary", "answers")))],
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(_NO_TRIGGER, migrations.RunSQL.noop),
    ]
