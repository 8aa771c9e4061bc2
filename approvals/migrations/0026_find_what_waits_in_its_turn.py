"""Let an index have what waits in the order of the inbox: of twenty thousand requests, each was read for the first page."""

from typing import ClassVar

from django.db import migrations, models

from tenants.tables import TakeTables


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0025_events_that_nobody_hears")]

    operations: ClassVar = [
        TakeTables("approvals_approvalrequest"),
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(
                fields=["tenant", "next_at", "id"],
                condition=models.Q(status="pending"),
                name="request_waits_in_turn",
            ),
        ),
    ]
