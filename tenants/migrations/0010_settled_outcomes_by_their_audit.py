"""Find what people settled by the audit of it: an index of the events for it cost each event that is written."""

from django.db import migrations, models

from tenants.tables import TakeTables


class Migration(migrations.Migration):
    dependencies = [("tenants", "0009_switched_persons_move_stamps")]

    operations = [
        TakeTables("tenants_event", "tenants_auditentry"),
        migrations.RemoveIndex(model_name="event", name="events_settled"),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(
                condition=models.Q(("action", "run.settled")), fields=["tenant", "at"], name="audit_of_outcomes"
            ),
        ),
    ]
