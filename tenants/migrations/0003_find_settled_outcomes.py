"""An index for the outcome desk: the few events that settled something, in the order of time."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenants", "0002_row_security_and_doors")]

    operations = [
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                condition=models.Q(("name", "step.settled")), fields=["tenant", "at"], name="events_settled"
            ),
        ),
    ]
