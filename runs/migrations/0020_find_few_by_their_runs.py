"""Find unknown outcomes and the last summary by what their run's row says, and let steps refer to their run no more.

Each of the two indexes, and the check of the reference, cost every step that is written; the rows they find are few, and
are written by functions that hold the run's lock. A run is not deleted while it has steps; none is written without the
lease, which refers to the run (decision 0018).
"""

from typing import ClassVar

from django.db import migrations, models

from runs import functions
from tenants.tables import TakeTables

_MARK = """
UPDATE runs_run r SET unsettled = true
 WHERE EXISTS (SELECT FROM runs_step s
                WHERE s.tenant_id = r.tenant_id AND s.run_id = r.id AND s.unknown_since IS NOT NULL)
   AND r.id IN (SELECT s.run_id FROM runs_step s WHERE s.unknown_since IS NOT NULL);
UPDATE runs_run r SET compacted = c.seq
  FROM (SELECT s.tenant_id, s.run_id, max(s.seq) AS seq FROM runs_step s
         WHERE s.kind = 'compaction' AND s.status = 'completed' GROUP BY s.tenant_id, s.run_id) c
 WHERE r.tenant_id = c.tenant_id AND r.id = c.run_id
"""
_KEPT = """
CREATE FUNCTION runs_run_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM runs_step s WHERE s.tenant_id = OLD.tenant_id AND s.run_id = OLD.id) THEN
        RAISE EXCEPTION 'run % still has steps', OLD.id USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER kept BEFORE DELETE ON runs_run FOR EACH ROW EXECUTE FUNCTION runs_run_kept();
ALTER TABLE runs_step DROP CONSTRAINT runs_step_run_ft
"""
_REFERS = """
ALTER TABLE runs_step ADD CONSTRAINT runs_step_run_ft FOREIGN KEY (tenant_id, run_id)
  REFERENCES runs_run (tenant_id, id) DEFERRABLE INITIALLY DEFERRED;
DROP FUNCTION runs_run_kept() CASCADE
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0019_plan_once"), ("tenants", "0006_digests_as_bytes")]

    operations: ClassVar = [
        TakeTables("runs_run", "runs_lease", "runs_step"),
        migrations.AddField("Run", "unsettled", models.BooleanField(db_default=False)),
        migrations.AddField("Run", "compacted", models.BigIntegerField(db_default=0)),
        migrations.RunSQL(_MARK, migrations.RunSQL.noop),
        migrations.RunSQL(_KEPT, _REFERS),
        migrations.RemoveIndex("Step", "step_compaction"),
        migrations.RemoveIndex("Step", "step_unknown"),
        migrations.AddIndex(
            "Run", models.Index(fields=["tenant"], name="run_unsettled", condition=models.Q(unsettled=True))
        ),
        migrations.RunSQL(
            [(statement, None) for statement in functions.anew(("steps", "runs", "reading", "boundary"))],
            migrations.RunSQL.noop,
        ),
    ]
