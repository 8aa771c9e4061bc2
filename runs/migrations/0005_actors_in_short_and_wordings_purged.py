"""Keep who started a run in short, and let the purge take the wordings that nobody refers to any more."""

from typing import ClassVar

from django.db import migrations

from runs import functions
from tenants.fields import ActorField, Decoder, Encoder
from tenants.rls import OwnerFunction


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("runs", "0004_purge_what_is_past_its_time"),
        ("approvals", "0008_share_what_many_requests_say"),
    ]

    operations: ClassVar = [
        migrations.AlterField("run", "started_by", ActorField(decoder=Decoder, encoder=Encoder)),
        migrations.RunSQL("DROP FUNCTION purge(uuid, int)", migrations.RunSQL.noop),
        OwnerFunction("purge(uuid, int)", functions.text("purge")),
    ]
