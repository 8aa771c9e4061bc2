"""Renew leases without waiting for who has locked one of them: all others of the process would lapse meanwhile."""

from typing import ClassVar

from django.db import migrations

from runs import functions


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0016_take_a_run_with_its_record")]

    operations: ClassVar = [
        migrations.RunSQL([(statement, None) for statement in functions.anew(("leases",))], migrations.RunSQL.noop)
    ]
