"""Write the events of an answer with that of the run which it wakes: one look for the last number, and one insert."""

from typing import ClassVar

from django.db import migrations

from runs import functions


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("runs", "0013_wake_in_one_update"),
        ("approvals", "0022_events_of_an_answer_go_on"),
    ]

    operations: ClassVar = [
        migrations.RunSQL([(statement, None) for statement in functions.anew(("answers",))], migrations.RunSQL.noop)
    ]
