"""What an answer means for its run, in one statement."""

from typing import ClassVar

from django.db import migrations

from runs import functions

DROP = "DROP FUNCTION run_wake, run_can_go_on, run_answered"


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0005_actors_in_short_and_wordings_purged")]

    operations: ClassVar = [migrations.RunSQL([(functions.text("answers"), None)], DROP)]
