"""What is in the tables of one run, and by which indexes a statement finds it."""

import re
from typing import Any

from django.db import connection, connections

from runs import onward
from tenants.scope import scope
from tests.cast.journal import Started

_STEPS = """
SELECT to_jsonb(s) - '{tenant_id,run_id,last_opened_at,last_closed_at}'::text[],
       last_opened_at IS NULL, last_closed_at IS NULL,
       last_opened_at = (SELECT max(last_closed_at) FROM runs_step WHERE run_id = %(run)s),
       last_opened_at = (SELECT max(at) FROM tenants_event WHERE subject = subject_of_run(%(run)s))
  FROM runs_step s WHERE run_id = %(run)s ORDER BY seq
"""
_EVENTS = """
SELECT seq, name, actor, message, data, at = (SELECT max(at) FROM tenants_event WHERE subject = subject_of_run(%(run)s))
  FROM tenants_event WHERE subject = subject_of_run(%(run)s) AND name LIKE 'step.%%' ORDER BY seq
"""


def rows(run: Started) -> list[Any]:
    """The steps, then their events; of times only which of them are the same."""
    with scope(run.tenant), connection.cursor() as cursor:
        found = []
        for query in (_STEPS, _EVENTS):
            cursor.execute(query, {"run": run.id})
            found += cursor.fetchall()
        return found


def ways(run: Started, query: str) -> list[str]:
    """How the plan that is kept for this statement of a worker reads each table, made while there are few rows."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE runs_step, runs_run, runs_lease, tenants_event, tenants_tenant")
    values = ", ".join(["NULL"] * max(map(int, re.findall(r"\$(\d+)", query))))
    with scope(run.tenant), connection.cursor() as cursor:
        cursor.execute(f"SELECT {onward._BY_INDEX}, set_config('plan_cache_mode', 'force_generic_plan', true)")
        cursor.execute(f"PREPARE asked AS {query}")
        cursor.execute(f"EXPLAIN EXECUTE asked({values})")
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("DEALLOCATE asked")
    return sorted(
        re.findall(r"(Seq Scan|Bitmap \w+ Scan|Index(?: Only)? Scan using \w+)(?: on (?:runs|tenants)_)", plan)
    )


BY_KEY = [f"Index Scan using {table}_pkey" for table in ("runs_lease", "runs_step", "tenants_tenant")]
