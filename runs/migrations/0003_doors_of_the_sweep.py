"""What the sweep finds across tenants: the owner's doors, and the index by which answers are found."""

from typing import ClassVar

from django.db import migrations

from runs import functions
from tenants.rls import OwnerFunction

INDEX = """
CREATE INDEX request_decided ON approvals_approvalrequest (decided_at) WHERE decided_at IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("runs", "0002_row_security_states_and_boundaries"),
        ("approvals", "0002_row_security_states_and_doors"),
    ]

    operations: ClassVar = [
        # On a table of the floor below, for the door of this one: that floor itself never asks by this time.
        migrations.RunSQL(INDEX, "DROP INDEX request_decided"),
        OwnerFunction("due_runs(int)", functions.one("doors", "due_runs")),
        OwnerFunction("due_deadlines(int)", functions.one("doors", "due_deadlines")),
        OwnerFunction("due_leases(int)", functions.one("doors", "due_leases")),
        OwnerFunction("due_answers(int, interval)", functions.one("doors", "due_answers")),
    ]
