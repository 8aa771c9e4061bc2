"""A person who is switched off or on moves the stamp of every tenant they belong to, as a change of a member does."""

from typing import ClassVar

from django.db import migrations

SWITCHED = """
CREATE FUNCTION person_switched() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tenants_tenant t SET stamp = t.stamp + 1 FROM memberships(NEW.id) m WHERE t.id = m.tenant;
  RETURN NULL;
END $$;
CREATE TRIGGER switched AFTER UPDATE OF is_active ON tenants_person FOR EACH ROW
  WHEN (OLD.is_active IS DISTINCT FROM NEW.is_active) EXECUTE FUNCTION person_switched()
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tenants", "0008_subjects_in_line")]

    operations: ClassVar = [
        migrations.RunSQL(SWITCHED, "DROP TRIGGER switched ON tenants_person; DROP FUNCTION person_switched()")
    ]
