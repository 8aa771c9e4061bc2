"""When people work and who is on call; each tenant that is there gets the working hours it was counted by."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import tenants.fields
import tenants.ids
from tenants.rls import CompositeForeignKey, EnableTenantRLS

TABLES = ("Calendar", "Rotation", "RotationMember", "RotationOverride")
REFERENCES = (
    ("EscalationPolicy", "calendar", "Calendar"),
    ("RotationMember", "rotation", "Rotation"),
    ("RotationMember", "member", "tenants.Member"),
    ("RotationOverride", "rotation", "Rotation"),
    ("RotationOverride", "member", "tenants.Member"),
)
FIRST_CALENDARS = """
INSERT INTO approvals_calendar (id, tenant_id, name, zone, week, country, subdivision, days, is_default)
SELECT gen_random_uuid(), t.id, 'Working hours', '',
  '[[["09:00", "17:00"]], [["09:00", "17:00"]], [["09:00", "17:00"]], [["09:00", "17:00"]], [["09:00", "17:00"]], [], []]',
  '', '', '[]', true
FROM tenants_tenant t
"""


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0004_what_comes_next"),
        ("tenants", "0003_find_settled_outcomes"),
    ]

    operations = [
        migrations.AddField(
            model_name="escalationpolicy",
            name="working_time",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name="Calendar",
            fields=[
                ("id", models.UUIDField(default=tenants.ids.new, editable=False, primary_key=True, serialize=False)),
                ("name", models.TextField()),
                ("zone", models.TextField(blank=True)),
                (
                    "week",
                    tenants.fields.ExactJSONField(
                        decoder=tenants.fields.Decoder, default=list, encoder=tenants.fields.Encoder
                    ),
                ),
                ("country", models.CharField(blank=True, max_length=2)),
                ("subdivision", models.CharField(blank=True, max_length=16)),
                (
                    "days",
                    tenants.fields.ExactJSONField(
                        decoder=tenants.fields.Decoder, default=list, encoder=tenants.fields.Encoder
                    ),
                ),
                ("is_default", models.BooleanField(default=False)),
                ("archived_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="escalationpolicy",
            name="calendar",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="approvals.calendar",
            ),
        ),
        migrations.CreateModel(
            name="Rotation",
            fields=[
                ("id", models.UUIDField(default=tenants.ids.new, editable=False, primary_key=True, serialize=False)),
                ("name", models.TextField()),
                ("zone", models.TextField()),
                ("every", models.CharField(max_length=8)),
                ("handover", models.TimeField()),
                ("first_day", models.DateField()),
                ("archived_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="RotationMember",
            fields=[
                ("id", models.UUIDField(default=tenants.ids.new, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.member",
                    ),
                ),
                (
                    "rotation",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="approvals.rotation",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="RotationOverride",
            fields=[
                ("id", models.UUIDField(default=tenants.ids.new, editable=False, primary_key=True, serialize=False)),
                ("starts", models.DateTimeField()),
                ("ends", models.DateTimeField()),
                ("withdrawn_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.member",
                    ),
                ),
                (
                    "rotation",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="overrides",
                        to="approvals.rotation",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="calendar",
            constraint=models.UniqueConstraint(fields=("tenant", "id"), name="approvals_calendar_in_tenant"),
        ),
        migrations.AddConstraint(
            model_name="calendar",
            constraint=models.UniqueConstraint(
                condition=models.Q(("archived_at__isnull", True)), fields=("tenant", "name"), name="one_calendar_a_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="calendar",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_default", True)), fields=("tenant",), name="one_default_calendar"
            ),
        ),
        migrations.AddConstraint(
            model_name="calendar",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_default", False), ("archived_at__isnull", True), _connector="OR"),
                name="default_calendar_stays",
            ),
        ),
        migrations.AddConstraint(
            model_name="rotation",
            constraint=models.UniqueConstraint(fields=("tenant", "id"), name="approvals_rotation_in_tenant"),
        ),
        migrations.AddConstraint(
            model_name="rotation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("archived_at__isnull", True)), fields=("tenant", "name"), name="one_rotation_a_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="rotation",
            constraint=models.CheckConstraint(
                condition=models.Q(("every__in", ("day", "week"))), name="rotation_turns_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="rotationmember",
            constraint=models.UniqueConstraint(fields=("tenant", "id"), name="approvals_rotationmember_in_tenant"),
        ),
        migrations.AddConstraint(
            model_name="rotationmember",
            constraint=models.UniqueConstraint(
                fields=("tenant", "rotation", "position"), name="one_member_a_place_in_rotation"
            ),
        ),
        migrations.AddConstraint(
            model_name="rotationoverride",
            constraint=models.UniqueConstraint(fields=("tenant", "id"), name="approvals_rotationoverride_in_tenant"),
        ),
        migrations.AddConstraint(
            model_name="rotationoverride",
            constraint=models.CheckConstraint(
                condition=models.Q(("ends__gt", models.F("starts"))), name="override_has_time"
            ),
        ),
        *[EnableTenantRLS(model) for model in TABLES],
        *[CompositeForeignKey(*each) for each in REFERENCES],
        migrations.RunSQL(FIRST_CALENDARS, migrations.RunSQL.noop),
    ]
