"""Let a lease that a webhook hears of count as halted: workers of the release before tell it nothing else.

Their own statement for the usual boundary counted on the trigger that tells webhooks, which is gone. It writes nothing
where a lease is halted, and then they ask the function of the boundary, which tells.
"""

from typing import ClassVar

from django.db import migrations, models

from runs import functions
from tenants.tables import TakeTables

_SAY = """
UPDATE runs_lease SET stopped = halted, halted = halted OR heard WHERE until IS NOT NULL AND (halted OR heard)
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0023_end_a_run_in_fewer_looks")]

    operations: ClassVar = [
        TakeTables("runs_run", "runs_lease"),
        migrations.AddField("Lease", "stopped", models.BooleanField(db_default=False)),
        migrations.RunSQL(
            [*((statement, None) for statement in functions.anew(("leases",))), (_SAY, None)], migrations.RunSQL.noop
        ),
    ]
