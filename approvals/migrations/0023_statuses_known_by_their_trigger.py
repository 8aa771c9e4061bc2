"""Leave it to the trigger of the transitions, which lets in no other status, to know the statuses: a list beside it was
read from its text anew for each end of a request."""

from typing import ClassVar

from django.db import migrations

from tenants.tables import TakeTables


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0022_events_of_an_answer_go_on")]

    operations: ClassVar = [
        TakeTables("approvals_approvalrequest"),
        migrations.RemoveConstraint(model_name="approvalrequest", name="request_status_known"),
    ]
