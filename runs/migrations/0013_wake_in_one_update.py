"""Queue a parked run with one update: a look at its state came before it, for every answer."""

from typing import ClassVar

from django.db import migrations

from runs import functions


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0012_latest_attempt_in_its_steps_row")]

    operations: ClassVar = [
        migrations.RunSQL([(statement, None) for statement in functions.anew(("answers",))], migrations.RunSQL.noop)
    ]
