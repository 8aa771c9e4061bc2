"""Webhooks and chat channels, who a chat person is here, and what each member wishes to hear."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import tenants.fields
import tenants.ids
from tenants.rls import CompositeForeignKey, EnableTenantRLS, OwnerFunction

EVENT_TO_WEBHOOKS = """
CREATE FUNCTION event_to_webhooks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Nearly always so, and several times cheaper than an INSERT of nothing.
  IF NOT EXISTS (
    SELECT FROM approvals_channel c
    WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'webhook' AND c.enabled AND NEW.name = ANY (c.events)
  ) THEN
    RETURN NULL;
  END IF;
  INSERT INTO approvals_delivery (
    id, tenant_id, request_id, channel_id, kind, key, transport, address, status, attempts, due_at, error, subject, seq
  )
  SELECT gen_random_uuid(), NEW.tenant_id,
    CASE WHEN NEW.name LIKE 'approval.%' THEN (NEW.data ->> 'request')::uuid END,
    c.id, NEW.name, 'event:' || subject_text(NEW.subject) || ':' || NEW.seq, 'webhook', c.id::text, 'pending', 0,
    clock_timestamp(), '', subject_text(NEW.subject), NEW.seq
  FROM approvals_channel c
  WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'webhook' AND c.enabled AND c.archived_at IS NULL
    AND NEW.name = ANY (c.events);
  RETURN NULL;
END $$;
CREATE TRIGGER event_to_webhooks AFTER INSERT ON tenants_event FOR EACH ROW EXECUTE FUNCTION event_to_webhooks()
"""

# What the previous release asks for, while it still runs: it sends mail and knows no other transport.
DUE_DELIVERIES = """
CREATE OR REPLACE FUNCTION due_deliveries(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT d.tenant_id, d.id FROM public.approvals_delivery d
  WHERE d.status IN ('pending', 'sending') AND d.due_at <= now() AND d.transport = 'email' ORDER BY d.due_at LIMIT n
$$
"""

# The oldest first, and of one way out no more than a fifth: one that is slow leaves room for the others.
DUE_PARCELS = """
CREATE FUNCTION due_parcels(n int) RETURNS TABLE (tenant uuid, id uuid, lane text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT tenant_id, id, lane FROM (
    SELECT d.tenant_id, d.id, d.due_at, coalesce(d.channel_id::text, d.transport) AS lane,
      row_number() OVER (PARTITION BY coalesce(d.channel_id::text, d.transport) ORDER BY d.due_at) AS place
    FROM (
      SELECT * FROM public.approvals_delivery
      WHERE status IN ('pending', 'sending') AND due_at <= clock_timestamp() ORDER BY due_at LIMIT 20 * n
    ) d
  ) found WHERE lane = 'email' OR place <= greatest(n / 5, 1) ORDER BY due_at LIMIT n
$$
"""

FORGET_DELIVERIES = """
CREATE FUNCTION forget_deliveries(p_limit int) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  WITH gone AS (
    DELETE FROM public.approvals_delivery WHERE id IN (
      SELECT id FROM public.approvals_delivery
      WHERE request_id IS NULL AND status IN ('sent', 'given_up') AND created_at < now() - interval '30 days'
      ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) RETURNING 1
  ), used AS (
    DELETE FROM public.approvals_callbackseen WHERE id IN (
      SELECT id FROM public.approvals_callbackseen WHERE at < now() - interval '1 day'
      ORDER BY at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) RETURNING 1
  ) SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM used)
$$
"""

TABLES = ("Channel", "ChannelPerson", "CallbackSeen", "NoticeWish")
REFERENCES = (
    ("Channel", "member", "tenants.Member"),
    ("ChannelPerson", "channel", "Channel"),
    ("ChannelPerson", "member", "tenants.Member"),
    ("CallbackSeen", "channel", "Channel"),
    ("NoticeWish", "member", "tenants.Member"),
    ("Delivery", "channel", "Channel"),
)


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0009_lapse_in_one"),
        ("tenants", "0005_subjects_as_bytes"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChannelPerson",
            fields=[
                ("id", models.UUIDField(default=tenants.ids.new, editable=False, primary_key=True, serialize=False)),
                ("external_id", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="NoticeWish",
            fields=[
                ("id", models.UUIDField(default=tenants.ids.new, editable=False, primary_key=True, serialize=False)),
                (
                    "off",
                    tenants.fields.ExactJSONField(
                        decoder=tenants.fields.Decoder, default=list, encoder=tenants.fields.Encoder
                    ),
                ),
                ("digest", models.CharField(default="none", max_length=8)),
                ("quiet_from", models.TimeField(null=True)),
                ("quiet_until", models.TimeField(null=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="delivery",
            name="bundled",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="delivery",
            name="origin",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="delivery",
            name="seq",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="delivery",
            name="subject",
            field=models.CharField(blank=True, db_default="", max_length=100),
        ),
        migrations.CreateModel(
            name="Channel",
            fields=[
                ("id", models.UUIDField(default=tenants.ids.new, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=16)),
                ("name", models.CharField(max_length=100)),
                ("url", models.TextField()),
                ("shown_url", models.CharField(max_length=200)),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), default=list, size=None
                    ),
                ),
                ("secret", models.TextField()),
                ("former_secret", models.TextField(blank=True)),
                ("former_until", models.DateTimeField(null=True)),
                ("enabled", models.BooleanField(default=True)),
                ("off_because", models.TextField(blank=True)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("not_before", models.DateTimeField(null=True)),
                ("last_error", models.TextField(blank=True)),
                ("archived_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.member",
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
            name="CallbackSeen",
            fields=[
                ("id", models.UUIDField(default=tenants.ids.new, editable=False, primary_key=True, serialize=False)),
                ("message", models.CharField(max_length=200)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
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
                (
                    "channel",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="approvals.channel",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="delivery",
            name="channel",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="deliveries",
                to="approvals.channel",
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(fields=["tenant", "-created_at", "-id"], name="deliveries_in_time"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("status", "given_up")),
                fields=["tenant", "-created_at", "-id"],
                name="deliveries_given_up",
            ),
        ),
        migrations.AddField(
            model_name="channelperson",
            name="channel",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="people",
                to="approvals.channel",
            ),
        ),
        migrations.AddField(
            model_name="channelperson",
            name="member",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.member"
            ),
        ),
        migrations.AddField(
            model_name="channelperson",
            name="tenant",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tenants.tenant",
            ),
        ),
        migrations.AddField(
            model_name="noticewish",
            name="member",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="tenants.member"
            ),
        ),
        migrations.AddField(
            model_name="noticewish",
            name="tenant",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tenants.tenant",
            ),
        ),
        migrations.AddConstraint(
            model_name="channel",
            constraint=models.UniqueConstraint(fields=("tenant", "id"), name="approvals_channel_in_tenant"),
        ),
        migrations.AddConstraint(
            model_name="channel",
            constraint=models.UniqueConstraint(
                condition=models.Q(models.Q(("kind", "webhook"), _negated=True), ("archived_at", None)),
                fields=("tenant", "name"),
                name="one_channel_a_name",
            ),
        ),
        migrations.AddIndex(
            model_name="callbackseen",
            index=models.Index(fields=["at"], name="callbacks_in_time"),
        ),
        migrations.AddConstraint(
            model_name="callbackseen",
            constraint=models.UniqueConstraint(fields=("tenant", "id"), name="approvals_callbackseen_in_tenant"),
        ),
        migrations.AddConstraint(
            model_name="callbackseen",
            constraint=models.UniqueConstraint(fields=("tenant", "channel", "message"), name="a_callback_counts_once"),
        ),
        migrations.AddConstraint(
            model_name="channelperson",
            constraint=models.UniqueConstraint(fields=("tenant", "id"), name="approvals_channelperson_in_tenant"),
        ),
        migrations.AddConstraint(
            model_name="channelperson",
            constraint=models.UniqueConstraint(
                fields=("tenant", "channel", "external_id"), name="one_member_a_chat_person"
            ),
        ),
        migrations.AddConstraint(
            model_name="noticewish",
            constraint=models.UniqueConstraint(fields=("tenant", "id"), name="approvals_noticewish_in_tenant"),
        ),
        migrations.AddConstraint(
            model_name="noticewish",
            constraint=models.UniqueConstraint(fields=("tenant", "member"), name="one_wish_a_member"),
        ),
        migrations.AddConstraint(
            model_name="noticewish",
            constraint=models.CheckConstraint(
                condition=models.Q(("digest__in", ("none", "hourly", "daily"))), name="digest_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="noticewish",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("quiet_from", None), ("quiet_until", None)),
                    models.Q(("quiet_from__isnull", False), ("quiet_until__isnull", False)),
                    _connector="OR",
                ),
                name="quiet_has_both_ends",
            ),
        ),
        *[EnableTenantRLS(model) for model in TABLES],
        *[CompositeForeignKey(*each) for each in REFERENCES],
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("request", None), ("status__in", ("sent", "given_up"))),
                fields=["created_at"],
                name="deliveries_to_forget",
            ),
        ),
        migrations.RunSQL(
            EVENT_TO_WEBHOOKS, "DROP TRIGGER event_to_webhooks ON tenants_event; DROP FUNCTION event_to_webhooks()"
        ),
        migrations.RunSQL(DUE_DELIVERIES, migrations.RunSQL.noop),
        OwnerFunction("due_parcels(int)", DUE_PARCELS),
        OwnerFunction("forget_deliveries(int)", FORGET_DELIVERIES),
    ]
