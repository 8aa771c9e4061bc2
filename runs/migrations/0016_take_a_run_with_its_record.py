"""Take a run by one statement that gives its record too, in the place of four and a second look at the same rows."""

from typing import ClassVar

from django.db import migrations

from runs import functions


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0015_leases_say_what_is_otherwise")]

    operations: ClassVar = [
        migrations.RunSQL([(statement, None) for statement in functions.anew(("leases",))], migrations.RunSQL.noop)
    ]
