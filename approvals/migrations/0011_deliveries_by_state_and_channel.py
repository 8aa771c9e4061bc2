"""Find what failed, and what went by one channel, without reading what was sent."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0010_ways_out"),
        ("tenants", "0005_subjects_as_bytes"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="delivery",
            name="deliveries_given_up",
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("status__in", ("given_up", "pending", "sending"))),
                fields=["tenant", "-created_at", "-id"],
                name="deliveries_not_sent",
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("channel__isnull", False)),
                fields=["tenant", "channel", "-created_at", "-id"],
                name="deliveries_of_a_channel",
            ),
        ),
    ]
