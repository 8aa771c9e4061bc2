"""Keep the latest attempt in its step's row: a boundary writes one row to close a step, and one to open the next.

`runs_attempt` becomes a view of all attempts, so that whoever reads it, the release before this one too, finds what it
found. What a worker has in hand just now moves into the steps' rows; no other row is written anew.
"""

import django.db.models.functions.datetime
from django.db import migrations, models

from runs import functions, triggers
from tenants.rls import OwnerFunction
from tenants.tables import TakeTables

IN_HAND = """
UPDATE runs_step s
   SET last_kind = a.kind, last_fence = a.fence, last_key = a.key, last_opened_at = a.opened_at
  FROM runs_formerattempt a
 WHERE a.closed_at IS NULL
   AND s.tenant_id = a.tenant_id AND s.run_id = a.run_id AND s.seq = a.seq AND s.attempts = a.number
"""
NO_LONGER_FORMER = """
DELETE FROM runs_formerattempt a USING runs_step s
 WHERE a.closed_at IS NULL
   AND s.tenant_id = a.tenant_id AND s.run_id = a.run_id AND s.seq = a.seq AND s.attempts = a.number
"""
ALL = """
CREATE VIEW runs_attempt WITH (security_invoker = true) AS
SELECT s.seq, s.attempts AS number, s.last_kind AS kind, s.last_fence AS fence, s.last_key AS key,
       s.last_opened_at AS opened_at, s.last_closed_at AS closed_at, coalesce(s.last_cause, '') AS cause,
       coalesce(s.last_message, '') AS message, s.last_not_done AS not_done, s.last_next_at AS next_at, s.tenant_id, s.run_id
  FROM runs_step s
 WHERE s.last_opened_at IS NOT NULL
 UNION ALL
SELECT a.seq, a.number, a.kind, a.fence, a.key, a.opened_at, a.closed_at, a.cause, a.message, a.not_done, a.next_at,
       a.tenant_id, a.run_id
  FROM runs_formerattempt a
"""
LATEST = {
    "last_kind": models.TextField(null=True),
    "last_fence": models.BigIntegerField(null=True),
    "last_key": models.TextField(null=True),
    "last_opened_at": models.DateTimeField(null=True),
    "last_closed_at": models.DateTimeField(null=True),
    "last_cause": models.TextField(null=True),
    "last_message": models.TextField(null=True),
    "last_not_done": models.BooleanField(null=True),
    "last_next_at": models.DateTimeField(null=True),
}


def _reference(to: str, on_delete: object) -> models.ForeignKey:
    return models.ForeignKey(db_constraint=False, db_index=False, on_delete=on_delete, related_name="+", to=to)


class Migration(migrations.Migration):
    dependencies = [("runs", "0011_read_steps_by_number"), ("tenants", "0006_digests_as_bytes")]

    operations = [
        TakeTables("runs_run", "runs_step", "runs_attempt"),
        migrations.RenameModel("Attempt", "FormerAttempt"),
        *(migrations.AddField("step", name, field) for name, field in LATEST.items()),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id",
                        "run_id",
                        "seq",
                        "number",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("seq", models.BigIntegerField()),
                ("number", models.IntegerField()),
                ("kind", models.TextField(default="call")),
                ("fence", models.BigIntegerField()),
                ("key", models.TextField(default="")),
                ("opened_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("closed_at", models.DateTimeField(null=True)),
                ("cause", models.TextField(default="")),
                ("message", models.TextField(default="")),
                ("not_done", models.BooleanField(null=True)),
                ("next_at", models.DateTimeField(null=True)),
                ("tenant", _reference("tenants.tenant", models.DO_NOTHING)),
                ("run", _reference("runs.run", models.CASCADE)),
            ],
            options={"db_table": "runs_attempt", "managed": False},
        ),
        migrations.RunSQL([(statement, None) for statement in triggers.statements()], migrations.RunSQL.noop),
        migrations.RunSQL(
            [(statement, None) for statement in (IN_HAND, NO_LONGER_FORMER, ALL)], migrations.RunSQL.noop
        ),
        migrations.RunSQL([(statement, None) for statement in functions.anew()], migrations.RunSQL.noop),
        migrations.RunSQL("DROP FUNCTION purge(uuid, int)", migrations.RunSQL.noop),
        OwnerFunction("purge(uuid, int)", functions.text("purge")),
    ]
