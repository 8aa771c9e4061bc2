"""How a subject is written as bytes. The column itself changes with those who write it, in runs 0006."""

from typing import ClassVar

from django.db import migrations, models

from tenants.fields import SubjectField

SUBJECT_OF_RUN = """
CREATE FUNCTION subject_of_run(p_run uuid) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '\\x01'::bytea || uuid_send(p_run) $$
"""

SUBJECT_BYTES = """
CREATE FUNCTION subject_bytes(p_subject text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_subject ~ '^run:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    THEN subject_of_run(substr(p_subject, 5)::uuid) ELSE '\\x00'::bytea || convert_to(p_subject, 'UTF8') END
$$
"""

SUBJECT_TEXT = """
CREATE FUNCTION subject_text(p_subject bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE get_byte(p_subject, 0) WHEN 1 THEN 'run:' || encode(substr(p_subject, 2), 'hex')::uuid
    ELSE convert_from(substr(p_subject, 2), 'UTF8') END
$$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tenants", "0004_actors_in_short")]

    operations: ClassVar = [
        migrations.RunSQL(
            [SUBJECT_OF_RUN, SUBJECT_BYTES, SUBJECT_TEXT],
            "DROP FUNCTION subject_text(bytea); DROP FUNCTION subject_bytes(text); DROP FUNCTION subject_of_run(uuid)",
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField("event", "subject", SubjectField()),
                migrations.AlterField("event", "seq", models.IntegerField()),
            ]
        ),
    ]
