"""Row security, composite references, the state rules, append-only tables, and what falls due."""

from typing import ClassVar

from django.db import migrations

from approvals import states
from approvals.models import FROZEN
from tenants.rls import AppendOnly, CompositeForeignKey, EnableTenantRLS, OwnerFunction

TABLES = (
    ("ApprovalRequest", "RequestVersion", "Review", "Asked", "Reassignment", "Viewing", "RequestComment")
    + ("PolicyRule", "PolicyVersion", "EscalationPolicy", "Delegation", "Delivery")
)  # fmt: skip
GROWING = ("RequestVersion", "Review", "Reassignment", "RequestComment", "PolicyVersion")
OF_A_REQUEST = ("RequestVersion", "Review", "Asked", "Reassignment", "Viewing", "RequestComment", "Delivery")
REFERENCES = (
    *[(model, "request", "ApprovalRequest") for model in OF_A_REQUEST],
    *[(model, "member", "tenants.Member") for model in ("Review", "Asked", "Viewing", "RequestComment")],
    *[(model, "member", "tenants.Member") for model in ("Delegation", "Delivery")],
    ("ApprovalRequest", "supersedes", "ApprovalRequest"),
    ("RequestVersion", "edited_by", "tenants.Member"),
    ("Review", "in_place_of", "tenants.Member"),
    ("Reassignment", "before", "tenants.Member"),
    ("Reassignment", "after", "tenants.Member"),
    ("PolicyVersion", "rule", "PolicyRule"),
    ("Delegation", "stand_in", "tenants.Member"),
)

DUE_REQUESTS = """
CREATE FUNCTION due_requests(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT r.tenant_id, r.id FROM public.approvals_approvalrequest r
  WHERE r.status = 'pending' AND r.due_at <= now() ORDER BY r.due_at LIMIT n
$$
"""

DUE_DELIVERIES = """
CREATE FUNCTION due_deliveries(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT d.tenant_id, d.id FROM public.approvals_delivery d
  WHERE d.status IN ('pending', 'sending') AND d.due_at <= now() ORDER BY d.due_at LIMIT n
$$
"""


def state_rules(*, relation: str, name: str, table: states.Table, frozen: tuple[str, ...] = ()) -> migrations.RunSQL:
    """The trigger that is the last line: PostgreSQL refuses what `states` does not list."""
    return migrations.RunSQL(
        states.trigger_sql(relation=relation, name=name, table=table, frozen=frozen),
        states.drop_sql(relation=relation, name=name),
    )


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("approvals", "0001_questions_answers_rules"),
        ("tenants", "0002_row_security_and_doors"),
    ]
    operations: ClassVar = [
        *[EnableTenantRLS(model) for model in TABLES],
        *[CompositeForeignKey(*each) for each in REFERENCES],
        *[AppendOnly(model, purge=True) for model in GROWING],
        state_rules(relation="approvals_approvalrequest", name="request_states", table=states.REQUEST, frozen=FROZEN),
        state_rules(relation="approvals_delivery", name="delivery_states", table=states.DELIVERY),
        OwnerFunction("due_requests(int)", DUE_REQUESTS),
        OwnerFunction("due_deliveries(int)", DUE_DELIVERIES),
    ]
