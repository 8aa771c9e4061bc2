"""Let an index find what tells of a run and of no request: it has to leave with the run."""

from typing import ClassVar

from django.db import migrations, models

from tenants.tables import TakeTables


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0027_take_only_messages_one_can_word")]

    operations: ClassVar = [
        TakeTables("approvals_delivery"),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                fields=["tenant", "subject"],
                condition=models.Q(("subject", ""), _negated=True),
                name="deliveries_of_a_subject",
            ),
        ),
    ]
