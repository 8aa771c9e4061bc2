"""Let the purge find the audit's entries by a target that is bytes."""

from typing import ClassVar

from django.db import migrations

from runs import functions
from tenants.rls import OwnerFunction


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0008_read_steps_from_the_last_summary"), ("tenants", "0006_digests_as_bytes")]

    operations: ClassVar = [
        migrations.RunSQL("DROP FUNCTION purge(uuid, int)", migrations.RunSQL.noop),
        OwnerFunction("purge(uuid, int)", functions.text("purge")),
    ]
