"""Many parked runs made of one: its rows copied in the database, each copy under ids of its own."""

from uuid import UUID

from bench import place

_MAP = """
CREATE TEMP TABLE copies AS
SELECT gen_random_uuid() AS run, gen_random_uuid() AS request FROM generate_series(1, %s)
"""
_COPY = """
INSERT INTO {table} SELECT (jsonb_populate_record(original, jsonb_build_object({changes}))).*
FROM {table} original, copies WHERE original.{key} = %s::text::uuid
"""
_OF_RUN = {
    "runs_run": ("id", "'id', copies.run"),
    "runs_lease": ("run_id", "'run_id', copies.run"),
    "runs_step": ("run_id", "'run_id', copies.run"),
}
_OF_REQUEST = {
    "approvals_approvalrequest": ("id", "'id', copies.request, 'subject', 'run:' || copies.run"),
    "approvals_requestversion": ("request_id", "'id', gen_random_uuid(), 'request_id', copies.request"),
    "approvals_asked": ("request_id", "'id', gen_random_uuid(), 'request_id', copies.request"),
}


def parked(run: UUID, request: UUID, *, times: int) -> None:
    """So many copies of a parked run and its pending request, without its story."""
    owner = place.connect("owner")
    owner.execute(_MAP, (times,))
    for tables, original in ((_OF_RUN, run), (_OF_REQUEST, request)):
        for table, (key, changes) in tables.items():
            owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            owner.execute(_COPY.format(table=table, key=key, changes=changes), (str(original),))
            owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
            owner.execute(f"ANALYZE {table}")
    owner.execute("DROP TABLE copies")
    owner.close()


_DUE = """
UPDATE approvals_approvalrequest r SET opened_at = now() - interval '2 hours', due_at = now(), next_at = now(),
       deadline = CASE WHEN w.body->>'escalation' IS NULL THEN now() ELSE deadline END
  FROM approvals_wording w
 WHERE r.status = 'pending' AND w.tenant_id = r.tenant_id AND w.digest = r.requirement_digest
"""


def fall_due() -> None:
    """Every pending request was opened two hours ago; those without a policy of levels end now."""
    owner = place.connect("owner")
    owner.execute("ALTER TABLE approvals_approvalrequest DISABLE TRIGGER USER")
    owner.execute(_DUE)
    owner.execute("ALTER TABLE approvals_approvalrequest ENABLE TRIGGER USER")
    owner.close()
