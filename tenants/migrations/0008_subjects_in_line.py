"""Write a subject as bytes by one expression: as a function of several it was made ready anew in each transaction."""

from typing import ClassVar

from django.db import migrations

# `convert_to` may not stand in it: PostgreSQL takes no expression in line that it does not know to be the same for ever.
SUBJECT = r"""
CREATE OR REPLACE FUNCTION subject_bytes(p_subject text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_subject LIKE 'run:________-____-____-____-____________'
                   AND translate(substr(p_subject, 5), '0123456789abcdef', '') = '----'
    THEN '\x01'::bytea || uuid_send(substr(p_subject, 5)::uuid)
    ELSE '\x00'::bytea || decode(replace(p_subject, '\', '\\'), 'escape') END
$$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tenants", "0007_append_in_one")]

    operations: ClassVar = [migrations.RunSQL([(SUBJECT, None)], migrations.RunSQL.noop)]
