"""Make up for what was at work while functions were replaced: who waited inside of one went on with its old text.

Such a transaction told no webhook of its events, since the trigger had left by then, marked no run as unsettled, and
took a lease that does not count as halted where a webhook hears of it.
"""

from typing import ClassVar

from django.db import migrations

# Everybody sees that others have a transaction open; whoever has one for longer than a minute does not advance runs.
AWAIT = """
DO $$
DECLARE
  others text[] := ARRAY(
    SELECT l.virtualtransaction FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'virtualxid' AND a.datname = current_database() AND a.usename IS NOT NULL
       AND a.pid <> pg_backend_pid());
BEGIN
  FOR try IN 1..700 LOOP
    EXIT WHEN NOT EXISTS (
      SELECT FROM pg_locks l WHERE l.locktype = 'virtualxid' AND l.virtualtransaction = ANY (others));
    PERFORM pg_sleep(0.1);
  END LOOP;
END $$
"""
# Leases are locked in one order everywhere.
HALT = """
DO $$
BEGIN
  PERFORM FROM runs_lease l WHERE l.until IS NOT NULL AND l.heard AND NOT l.halted
    ORDER BY l.tenant_id, l.run_id FOR UPDATE;
  UPDATE runs_lease l SET halted = true WHERE l.until IS NOT NULL AND l.heard AND NOT l.halted;
END $$
"""
MARK = """
UPDATE runs_run r SET unsettled = true
 WHERE NOT r.unsettled AND (r.tenant_id, r.id) IN (
   SELECT s.tenant_id, s.run_id FROM runs_step s WHERE s.unknown_since IS NOT NULL)
"""
# Where the trigger left only now: what was told already is not told again.
TELL = """
SELECT events_appended(e.tenant_id, e.subject, min(e.seq), max(e.seq))
  FROM tenants_event e, django_migrations before, django_migrations after
 WHERE before.app = 'runs' AND before.name = '0021_purge_under_each_lock'
   AND after.app = 'runs' AND after.name = '0022_tell_who_hears_where_it_is_not_known'
   AND after.applied > now() - interval '10 minutes' AND e.at > before.applied - interval '5 seconds'
   AND EXISTS (SELECT FROM approvals_channel c
                WHERE c.tenant_id = e.tenant_id AND c.kind = 'webhook' AND c.enabled AND c.created_at <= e.at)
 GROUP BY e.tenant_id, e.subject
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("runs", "0024_ask_at_length_where_somebody_hears")]

    operations: ClassVar = [
        migrations.RunSQL([(each, None) for each in (AWAIT, TELL, MARK, HALT)], migrations.RunSQL.noop)
    ]
