"""Read the steps from a number on by the index: behind a compaction every step of the run was read and left out."""

from typing import ClassVar

from django.db import migrations

from runs import functions


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0010_boundaries_in_fewer_words")]

    operations: ClassVar = [
        migrations.RunSQL([(statement, None) for statement in functions.anew()], migrations.RunSQL.noop)
    ]
