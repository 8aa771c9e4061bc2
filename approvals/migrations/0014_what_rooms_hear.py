"""Let a chat channel of the organisation choose which kinds of notice it hears; null is all, as it was."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("approvals", "0013_enter_the_index_of_what_is_due")]

    operations = [
        migrations.AddField(
            model_name="channel",
            name="kinds",
            field=ArrayField(base_field=models.CharField(max_length=40), null=True),
        ),
    ]
