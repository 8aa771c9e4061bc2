"""Take a run without waiting for a webhook that is being saved: who saves it may stand still, and every thread with it."""

from typing import ClassVar

from django.db import migrations

from runs import functions


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0017_renew_leases_without_waiting")]

    operations: ClassVar = [
        migrations.RunSQL([(statement, None) for statement in functions.anew(("leases",))], migrations.RunSQL.noop)
    ]
