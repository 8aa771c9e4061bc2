"""Fewer and narrower indexes: versions are found by request and number, who is asked by request or member."""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0011_deliveries_by_state_and_channel")]

    operations: ClassVar = [
        migrations.RemoveConstraint("asked", "approvals_asked_in_tenant"),
        migrations.AlterField(
            "asked",
            "member",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tenants.member",
            ),
        ),
        migrations.AddIndex(
            "asked",
            models.Index(
                fields=["member", "since"], condition=models.Q(("until__isnull", True)), name="asked_now_of_member"
            ),
        ),
        migrations.RemoveIndex("asked", "asked_of_member"),
        migrations.RemoveConstraint("requestversion", "approvals_requestversion_in_tenant"),
        migrations.AlterField(
            "requestversion",
            "request",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="versions",
                to="approvals.approvalrequest",
            ),
        ),
    ]
