"""Count refused callbacks by channel, so that whoever knocks cannot fill the audit."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("approvals", "0015_ask_once_who_hears_events")]

    operations = [
        migrations.AddField("channel", "refused", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AddField("channel", "refused_since", models.DateTimeField(null=True)),
    ]
