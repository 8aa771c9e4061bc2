"""A place to hear of events where they are appended: as a trigger it cost every step that nobody hears."""

from typing import ClassVar

from django.db import migrations

# What a floor above puts its own in the place of; it finds the events under these numbers.
HEAR = """
CREATE FUNCTION events_appended(p_tenant uuid, p_subject bytea, p_first bigint, p_last bigint) RETURNS void
LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
END $$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tenants", "0010_settled_outcomes_by_their_audit")]

    operations: ClassVar = [migrations.RunSQL(HEAR, "DROP FUNCTION events_appended")]
