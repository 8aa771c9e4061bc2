"""The steps can be asked for together with the run, which says where they begin."""

from typing import ClassVar

from django.db import migrations

from runs import functions


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0007_events_in_less_room")]

    operations: ClassVar = [
        migrations.RunSQL([(statement, None) for statement in functions.anew()], migrations.RunSQL.noop)
    ]
