"""How a request ends, is answered and climbs, each one statement: what comes due by thousands, and each answer, waits."""

from typing import ClassVar

from django.db import migrations

HOLD = """
-- Take the lock of the request's subject, and say which it is; NULL where the tenant in scope has no such request.
CREATE FUNCTION request_hold(p_tenant uuid, p_request uuid) RETURNS text LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_subject text;
BEGIN
    SELECT r.subject INTO v_subject FROM approvals_approvalrequest r WHERE r.tenant_id = p_tenant AND r.id = p_request;
    IF v_subject IS NOT NULL THEN
        PERFORM subject_lock(p_tenant, v_subject);
    END IF;
    RETURN v_subject;
END $$
"""

END = """
-- The one writer of a pending request's end: its row, the end of all asking, its event. The lock is held.
CREATE FUNCTION request_end(
    p_tenant uuid, p_request uuid, p_status text, p_decision text, p_comment text, p_response text, p_actor jsonb,
    p_at timestamptz, p_event text, p_message text, p_data jsonb
) RETURNS bigint LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_subject text;
BEGIN
    UPDATE approvals_approvalrequest r
       SET status = p_status, decision = p_decision, comment = p_comment, response = p_response, decided_at = p_at,
           decided_by = p_actor, due_at = NULL
     WHERE r.tenant_id = p_tenant AND r.id = p_request AND r.status = 'pending'
 RETURNING r.subject INTO v_subject;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'request % is not pending', p_request USING ERRCODE = 'check_violation';
    END IF;
    UPDATE approvals_asked a SET until = p_at
     WHERE a.tenant_id = p_tenant AND a.request_id = p_request AND a.until IS NULL;
    RETURN event_append(p_tenant, v_subject, p_event, p_actor, p_message, p_data);
END $$
"""

REVIEW = """
-- One person's answer to one version, with its event. The lock is held.
CREATE FUNCTION request_review(
    p_tenant uuid, p_request uuid, p_subject text, p_id uuid, p_member uuid, p_in_place_of uuid, p_version integer,
    p_decision text, p_comment text, p_response text, p_channel text, p_actor jsonb, p_at timestamptz, p_message text,
    p_data jsonb
) RETURNS bigint LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    INSERT INTO approvals_review (id, tenant_id, request_id, member_id, in_place_of_id, version, decision, comment,
                                  response, channel, actor, at)
    VALUES (p_id, p_tenant, p_request, p_member, p_in_place_of, p_version, p_decision, p_comment, p_response, p_channel,
            p_actor, p_at);
    RETURN event_append(p_tenant, p_subject, 'approval.reviewed', p_actor, p_message, p_data);
END $$
"""

ASK = """
-- Let the open rows be those who may answer now, `p_may` as [{member, id, level, because}]; who was not asked before.
CREATE FUNCTION request_ask(p_tenant uuid, p_request uuid, p_now timestamptz, p_may json) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY INVOKER ROWS 10 AS $$
BEGIN
    UPDATE approvals_asked a SET until = p_now
     WHERE a.tenant_id = p_tenant AND a.request_id = p_request AND a.until IS NULL
       AND a.member_id NOT IN (SELECT m.member FROM json_to_recordset(p_may) AS m(member uuid));
    RETURN QUERY
    INSERT INTO approvals_asked (id, tenant_id, request_id, member_id, level, because, since)
    SELECT m.id, p_tenant, p_request, m.member, m.level, m.because, p_now
      FROM json_to_recordset(p_may) AS m(member uuid, id uuid, level integer, because text)
     WHERE NOT EXISTS (
           SELECT FROM approvals_asked a
            WHERE a.tenant_id = p_tenant AND a.request_id = p_request AND a.member_id = m.member AND a.until IS NULL)
 RETURNING member_id;
END $$
"""

CLIMB = """
-- How far a pending request has travelled and when to look again. The lock is held.
CREATE FUNCTION request_climb(
    p_tenant uuid, p_request uuid, p_level integer, p_rung integer, p_short integer, p_due_at timestamptz,
    p_next_at timestamptz, p_stamp bigint
) RETURNS void LANGUAGE sql SECURITY INVOKER AS $$
    UPDATE approvals_approvalrequest r
       SET escalation_level = p_level, rung = p_rung, short = p_short, due_at = p_due_at, next_at = p_next_at,
           asked_stamp = p_stamp
     WHERE r.tenant_id = p_tenant AND r.id = p_request
$$
"""

FUNCTIONS = (HOLD, END, REVIEW, ASK, CLIMB)
DROP = "DROP FUNCTION request_hold, request_end, request_review, request_ask, request_climb"


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0005_calendars_and_rotations")]

    operations: ClassVar = [migrations.RunSQL([(each, None) for each in FUNCTIONS], DROP)]
