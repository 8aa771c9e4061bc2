"""Let a lease say whether its run was stopped and whether a webhook hears of it: a boundary reads the lease in any case.

What is held just now says neither; the release that looks at it takes its leases anew.
"""

from typing import ClassVar

from django.db import migrations, models

from runs import functions, triggers
from tenants.tables import TakeTables

KEPT = """
CREATE TRIGGER lease_halts AFTER UPDATE OF status ON runs_run FOR EACH ROW EXECUTE FUNCTION lease_halts();
CREATE TRIGGER lease_heard AFTER INSERT OR UPDATE OF kind, enabled ON approvals_channel
  FOR EACH ROW EXECUTE FUNCTION lease_heard()
"""
NO_LONGER_KEPT = """
DROP TRIGGER lease_halts ON runs_run;
DROP TRIGGER lease_heard ON approvals_channel
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("runs", "0014_wake_with_what_led_to_it"),
        ("approvals", "0025_events_that_nobody_hears"),
    ]

    operations: ClassVar = [
        TakeTables("runs_run", "runs_lease", "runs_step", "approvals_channel"),
        migrations.AddField("lease", "halted", models.BooleanField(db_default=False)),
        migrations.AddField("lease", "heard", models.BooleanField(db_default=False)),
        migrations.RunSQL([(statement, None) for statement in functions.anew(("leases",))], migrations.RunSQL.noop),
        migrations.RunSQL(KEPT, NO_LONGER_KEPT),
        migrations.RunSQL([(statement, None) for statement in triggers.statements()], migrations.RunSQL.noop),
    ]
