"""Keep digests, signatures and targets of the audit chain as bytes: what they say, and so what they prove, is the same."""

from typing import ClassVar

from django.db import migrations, models

from tenants.fields import Base64Field, HexField, SubjectField

DIGESTS = ("content_digest", "previous", "digest")
FORWARDS = ", ".join(
    [
        *[f"ALTER COLUMN {name} TYPE bytea USING decode({name}, 'hex')" for name in DIGESTS],
        "ALTER COLUMN signature TYPE bytea USING decode(signature, 'base64')",
        "ALTER COLUMN target TYPE bytea USING subject_bytes(target)",
    ]
)
BACKWARDS = ", ".join(
    [
        *[f"ALTER COLUMN {name} TYPE varchar(64) USING encode({name}, 'hex')" for name in DIGESTS],
        "ALTER COLUMN target TYPE varchar(200) USING subject_text(target)",
        "ALTER COLUMN signature TYPE varchar(128) USING translate(encode(signature, 'base64'), E'\\n', '')",
    ]
)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tenants", "0005_subjects_as_bytes")]

    operations: ClassVar = [
        migrations.RunSQL(
            f"ALTER TABLE tenants_auditentry {FORWARDS}",
            f"ALTER TABLE tenants_auditentry {BACKWARDS}",
            state_operations=[
                *[migrations.AlterField("auditentry", name, HexField()) for name in DIGESTS],
                migrations.AlterField("auditentry", "signature", Base64Field()),
                migrations.AlterField("auditentry", "target", SubjectField()),
            ],
        ),
        # Entries are shown in the order of their numbers; the time only narrows them.
        migrations.AddIndex("auditentry", models.Index(fields=["tenant", "at"], name="audit_by_time")),
        migrations.RemoveIndex("auditentry", "audit_in_time"),
    ]
