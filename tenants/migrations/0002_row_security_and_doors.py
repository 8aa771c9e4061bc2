"""Row security, composite references, append-only tables, and the functions of the ground floor."""

from typing import ClassVar

from django.db import migrations

from tenants.rls import AppendOnly, CompositeForeignKey, EnableTenantRLS, OwnerFunction

APP_TENANT = """
CREATE FUNCTION app_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(current_setting('app.tenant', true), '')::uuid $$
"""

SUBJECT_LOCK = """
CREATE FUNCTION subject_key(p_tenant uuid, p_subject text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT hashtextextended(p_tenant::text || ' ' || p_subject, 0) $$;
CREATE FUNCTION subject_lock(p_tenant uuid, p_subject text) RETURNS void LANGUAGE sql VOLATILE
AS $$ SELECT pg_advisory_xact_lock(subject_key(p_tenant, p_subject)) $$
"""

APPEND_ONLY = """
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  allowed text := TG_ARGV[0];
  by_owner boolean := (SELECT pg_get_userbyid(relowner) = current_user FROM pg_class WHERE oid = TG_RELID);
BEGIN
  IF by_owner AND TG_OP = 'DELETE' AND allowed = 'purge' THEN
    RETURN OLD;
  END IF;
  IF by_owner AND TG_OP = 'UPDATE' AND to_jsonb(NEW) -> allowed = 'null'
     AND to_jsonb(NEW) - allowed = to_jsonb(OLD) - allowed THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$
"""

EVENT_APPEND = """
CREATE FUNCTION event_append(
  p_tenant uuid, p_subject text, p_name text, p_actor jsonb, p_message text, p_data jsonb
) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
  SELECT p_tenant, p_subject,
    coalesce((SELECT max(e.seq) FROM tenants_event e WHERE e.tenant_id = p_tenant AND e.subject = p_subject), 0) + 1,
    p_name, clock_timestamp(), p_actor, p_message, p_data
  RETURNING seq
$$
"""

MEMBERSHIPS = """
CREATE FUNCTION memberships(p_person uuid) RETURNS TABLE (
  tenant uuid, slug text, tenant_name text, stamp bigint, member uuid, roles text[]
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT t.id, t.slug, t.name, t.stamp, m.id, m.roles::text[]
  FROM public.tenants_member m JOIN public.tenants_tenant t ON t.id = m.tenant_id
  WHERE m.person_id = p_person AND m.active
  ORDER BY t.slug
$$
"""

FORGET_ANSWERS = """
CREATE FUNCTION forget_answers(p_limit int) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  WITH gone AS (
    DELETE FROM public.tenants_idempotentanswer WHERE id IN (
      SELECT id FROM public.tenants_idempotentanswer WHERE created_at < now() - interval '24 hours'
      ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) RETURNING 1
  ) SELECT count(*) FROM gone
$$
"""

AUDIT_BLANK = """
CREATE FUNCTION audit_blank(p_tenant uuid, p_before timestamptz) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  WITH blanked AS (
    UPDATE public.tenants_auditcontent c SET body = NULL FROM public.tenants_auditentry e
    WHERE p_tenant = public.app_tenant() AND c.tenant_id = p_tenant AND e.tenant_id = p_tenant AND e.seq = c.seq
      AND e.at < p_before AND c.body IS NOT NULL
    RETURNING 1
  ) SELECT count(*) FROM blanked
$$
"""

TABLES = [
    "Member", "Group", "GroupMember", "AgentAccess", "AgentUserPermission", "ToolSetting", "ApiKey",
    "Secret", "Event", "AuditEntry", "AuditContent", "AuditHead", "IdempotentAnswer",
]  # fmt: skip

DROPS = """
DROP FUNCTION event_append(uuid, text, text, jsonb, text, jsonb);
DROP FUNCTION append_only(); DROP FUNCTION subject_lock(uuid, text); DROP FUNCTION subject_key(uuid, text)
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tenants", "0001_people_agents_keys_and_proof")]

    operations: ClassVar = [
        migrations.RunSQL(APP_TENANT, "DROP FUNCTION app_tenant()"),
        migrations.RunSQL([SUBJECT_LOCK, APPEND_ONLY, EVENT_APPEND], DROPS),
        *(EnableTenantRLS(table) for table in TABLES),
        CompositeForeignKey("GroupMember", "group", "Group"),
        CompositeForeignKey("GroupMember", "member", "Member"),
        CompositeForeignKey("AgentUserPermission", "content_object", "AgentAccess"),
        CompositeForeignKey("ApiKey", "owner", "Member"),
        AppendOnly("Event", purge=True),
        AppendOnly("AuditEntry"),
        AppendOnly("AuditContent", blank="body"),
        OwnerFunction("memberships(uuid)", MEMBERSHIPS),
        OwnerFunction("forget_answers(int)", FORGET_ANSWERS),
        OwnerFunction("audit_blank(uuid, timestamptz)", AUDIT_BLANK),
    ]
