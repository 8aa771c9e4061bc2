"""Row security, composite references, the state triggers and the journal's functions."""

from typing import ClassVar

from django.db import migrations

from runs import functions, triggers
from tenants.rls import CompositeForeignKey, EnableTenantRLS

TABLES = ["Run", "Lease", "Step", "Attempt", "Text", "Payload"]


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("runs", "0001_tables_of_a_run"),
        ("tenants", "0002_row_security_and_doors"),
    ]

    operations: ClassVar = [
        *(EnableTenantRLS(table) for table in TABLES),
        *(CompositeForeignKey(table, "run", "Run") for table in TABLES[1:]),
        migrations.RunSQL([(statement, None) for statement in triggers.statements()], triggers.DROP + " CASCADE"),
        migrations.RunSQL([(functions.text(name), None) for name in functions.FILES], functions.drop()),
    ]
