"""Keep who acted in short; events from before are read as they are."""

from typing import ClassVar

from django.db import migrations

from tenants.fields import ActorField, Decoder, Encoder


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tenants", "0003_find_settled_outcomes")]

    operations: ClassVar = [migrations.AlterField("event", "actor", ActorField(decoder=Decoder, encoder=Encoder))]
