"""Let the result of a run refer to all of it where it lies in storage: only its beginning was kept, and told as a whole."""

from typing import ClassVar

from django.db import migrations

from runs import functions

_REFER = """
UPDATE runs_text t SET payload = (s.payloads ->> 'result')::uuid
  FROM runs_step s
 WHERE t.name = 'result' AND t.seq = 0 AND t.payload IS NULL
   AND s.tenant_id = t.tenant_id AND s.run_id = t.run_id AND s.payloads ? 'result' AND s.result = t.body
   AND s.seq = (SELECT max(l.seq) FROM runs_step l WHERE l.tenant_id = t.tenant_id AND l.run_id = t.run_id)
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0025_make_up_for_what_was_at_work")]

    operations: ClassVar = [
        migrations.RunSQL(
            [*((statement, None) for statement in functions.anew(("runs",))), (_REFER, None)], migrations.RunSQL.noop
        )
    ]
