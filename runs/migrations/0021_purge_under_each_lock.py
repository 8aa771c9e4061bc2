"""Let the purge take each run's own lock, its leases in everybody's order, and what tells of it without a request."""

from typing import ClassVar

from django.db import migrations

from runs import functions
from tenants.rls import OwnerFunction


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("runs", "0020_find_few_by_their_runs"),
        ("approvals", "0028_find_deliveries_of_a_subject"),
    ]

    operations: ClassVar = [
        migrations.RunSQL("DROP FUNCTION purge(uuid, int)", migrations.RunSQL.noop),
        OwnerFunction("purge(uuid, int)", functions.text("purge")),
    ]
