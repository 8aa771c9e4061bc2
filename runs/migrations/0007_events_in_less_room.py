"""Write the subject of an event as bytes: the column and every function that writes it, in one transaction.

The table is written anew, which takes some seconds a million events, and nobody writes an event meanwhile.
"""

from typing import ClassVar

from django.db import migrations

from runs import functions
from tenants.rls import OwnerFunction

FORWARDS = """
ALTER TABLE tenants_event ALTER COLUMN subject TYPE bytea USING subject_bytes(subject), ALTER COLUMN seq TYPE integer
"""
BACKWARDS = """
ALTER TABLE tenants_event ALTER COLUMN subject TYPE varchar(100) USING subject_text(subject),
  ALTER COLUMN seq TYPE bigint
"""

EVENT_APPEND = """
CREATE OR REPLACE FUNCTION event_append(
  p_tenant uuid, p_subject text, p_name text, p_actor jsonb, p_message text, p_data jsonb
) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_subject bytea := subject_bytes(p_subject);
  v_seq bigint;
BEGIN
  INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
  SELECT p_tenant, v_subject,
    coalesce((SELECT max(e.seq) FROM tenants_event e WHERE e.tenant_id = p_tenant AND e.subject = v_subject), 0) + 1,
    p_name, clock_timestamp(), p_actor, p_message, p_data
  RETURNING seq INTO v_seq;
  RETURN v_seq;
END $$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("runs", "0006_hear_answers_in_one"),
        ("tenants", "0005_subjects_as_bytes"),
    ]

    operations: ClassVar = [
        migrations.RunSQL(FORWARDS, BACKWARDS),
        migrations.RunSQL(EVENT_APPEND, migrations.RunSQL.noop),
        migrations.RunSQL([(statement, None) for statement in functions.anew()], migrations.RunSQL.noop),
        migrations.RunSQL("DROP FUNCTION purge(uuid, int)", migrations.RunSQL.noop),
        OwnerFunction("purge(uuid, int)", functions.text("purge")),
    ]
