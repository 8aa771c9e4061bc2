"""The door by which finished runs leave when their tenant's retention is over."""

from typing import ClassVar

from django.db import migrations

from runs import functions
from tenants.rls import OwnerFunction

INDEX = "CREATE INDEX run_finished ON runs_run (tenant_id, finished_at) WHERE finished_at IS NOT NULL"


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("runs", "0003_doors_of_the_sweep"),
        ("approvals", "0002_row_security_states_and_doors"),
    ]

    operations: ClassVar = [
        migrations.RunSQL(INDEX, "DROP INDEX run_finished"),
        OwnerFunction("purge(uuid, int)", functions.text("purge")),
    ]
