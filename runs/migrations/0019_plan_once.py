"""Plan what takes, advances and stops a run once: a new connection planned each statement five times before it kept one,
several milliseconds of each of its first runs."""

from typing import ClassVar

from django.db import migrations

from runs import functions


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0018_take_runs_without_waiting_for_webhooks")]

    operations: ClassVar = [
        migrations.RunSQL(
            [(statement, None) for statement in functions.anew(("leases", "runs", "boundary"))], migrations.RunSQL.noop
        )
    ]
