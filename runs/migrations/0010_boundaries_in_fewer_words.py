"""Put the leaner boundary in the place of the former one; it is called and it answers as before."""

from typing import ClassVar

from django.db import migrations

from runs import functions


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0009_blank_by_target")]

    operations: ClassVar = [
        migrations.RunSQL([(statement, None) for statement in functions.anew()], migrations.RunSQL.noop)
    ]
