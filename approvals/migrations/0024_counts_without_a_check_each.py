"""Let no number say of itself that it is none below zero: PostgreSQL reads the text of each such check anew for every
statement, and an answer wrote to tables with eight of them. The statuses of a delivery are known by their trigger.

What a request supersedes is looked for among the few that supersede one.
"""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models

from tenants.tables import TakeTables


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0023_statuses_known_by_their_trigger")]

    operations: ClassVar = [
        TakeTables(
            "approvals_approvalrequest",
            "approvals_asked",
            "approvals_delivery",
            "approvals_requestversion",
            "approvals_review",
            "approvals_viewing",
        ),
        migrations.RemoveConstraint(
            model_name="delivery",
            name="delivery_status_known",
        ),
        migrations.AlterField(
            model_name="approvalrequest",
            name="escalation_level",
            field=models.IntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="approvalrequest",
            name="round",
            field=models.IntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="approvalrequest",
            name="rung",
            field=models.IntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="approvalrequest",
            name="short",
            field=models.IntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="approvalrequest",
            name="supersedes",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="successors",
                to="approvals.approvalrequest",
            ),
        ),
        migrations.AlterField(
            model_name="approvalrequest",
            name="version",
            field=models.IntegerField(default=1),
        ),
        migrations.AlterField(
            model_name="asked",
            name="level",
            field=models.IntegerField(),
        ),
        migrations.AlterField(
            model_name="delivery",
            name="attempts",
            field=models.IntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="requestversion",
            name="number",
            field=models.IntegerField(),
        ),
        migrations.AlterField(
            model_name="review",
            name="version",
            field=models.IntegerField(),
        ),
        migrations.AlterField(
            model_name="viewing",
            name="version",
            field=models.IntegerField(),
        ),
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(
                condition=models.Q(("supersedes__isnull", False)), fields=["supersedes"], name="request_that_supersedes"
            ),
        ),
    ]
