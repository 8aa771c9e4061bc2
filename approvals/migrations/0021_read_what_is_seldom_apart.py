"""Read absences, restricted agents and rotations by functions: without any, not even their plan is set up."""

from typing import ClassVar

from django.db import migrations

ABSENCES = """
CREATE FUNCTION roster_absences() RETURNS text LANGUAGE sql STABLE SECURITY INVOKER AS $$
  SELECT json_agg(json_build_array(d.member_id, d.stand_in_id, d.starts, d.ends) ORDER BY d.created_at, d.id)::text
  FROM approvals_delegation d WHERE d.withdrawn_at IS NULL AND d.ends > clock_timestamp()
$$
"""

RESTRICTED = """
CREATE FUNCTION roster_restricted() RETURNS text LANGUAGE sql STABLE SECURITY INVOKER AS $$
  SELECT json_agg(json_build_array(a.agent,
     (SELECT json_agg(u.user_id) FROM tenants_agentuserpermission u
      JOIN auth_permission q ON q.id = u.permission_id AND q.codename = 'review'
      WHERE u.content_object_id = a.id)))::text
  FROM tenants_agentaccess a WHERE a.restricted
$$
"""

ROTATIONS = """
CREATE FUNCTION roster_rotations() RETURNS text LANGUAGE sql STABLE SECURITY INVOKER AS $$
  SELECT json_agg(json_build_array(r.id, r.name, r.zone, r.every, r.handover, r.first_day,
     (SELECT json_agg(p.member_id ORDER BY p.position) FROM approvals_rotationmember p WHERE p.rotation_id = r.id),
     (SELECT json_agg(json_build_array(o.member_id, o.starts, o.ends) ORDER BY o.created_at, o.id)
      FROM approvals_rotationoverride o
      WHERE o.rotation_id = r.id AND o.withdrawn_at IS NULL AND o.ends > clock_timestamp()),
     (SELECT json_agg(DISTINCT o.member_id) FROM approvals_rotationoverride o WHERE o.rotation_id = r.id)))::text
  FROM approvals_rotation r
$$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0020_answer_in_one")]

    operations: ClassVar = [
        migrations.RunSQL(
            [(each, None) for each in (ABSENCES, RESTRICTED, ROTATIONS)],
            "DROP FUNCTION roster_absences, roster_restricted, roster_rotations",
        )
    ]
