"""Look once at the steps of a run that ends with none of them open, in the place of four times."""

from typing import ClassVar

from django.db import migrations

from runs import functions


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0022_tell_who_hears_where_it_is_not_known")]

    operations: ClassVar = [
        migrations.RunSQL(
            [(statement, None) for statement in functions.anew(("runs",))],
            migrations.RunSQL.noop,
        )
    ]
