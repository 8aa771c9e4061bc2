"""Silence in one statement, and a level in one: what falls due by thousands is looked at one by one."""

from typing import ClassVar

from django.db import migrations

SILENCE = """
-- What the rules of a request make of silence: expire, fail_run or approve.
CREATE FUNCTION request_silence(p_tenant uuid, p_request uuid) RETURNS text LANGUAGE sql STABLE SECURITY INVOKER AS $$
    SELECT coalesce(r.requirement->>'on_timeout', w.body->>'on_timeout')
      FROM approvals_approvalrequest r
      LEFT JOIN approvals_wording w ON w.tenant_id = r.tenant_id AND w.digest = r.requirement_digest
     WHERE r.tenant_id = p_tenant AND r.id = p_request
$$
"""

LAPSE = """
-- If the request still waits and its deadline has come, silence ends it as its rules say: through `request_end`, as every
-- end. The lock is taken and kept, whatever is found; `last_event` is NULL where nothing was ended, and `code` says why:
-- unknown, early, or the state that stands. The sentences hold {title}.
CREATE FUNCTION request_lapse(
    p_tenant uuid, p_request uuid, p_actor jsonb, p_expired text, p_agreed text,
    OUT code text, OUT subject text, OUT ref text, OUT initiators uuid[], OUT fail_run boolean, OUT last_event bigint
) LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    r record;
    v_now timestamptz;
    v_silence text;
    v_yes boolean;
BEGIN
    subject := request_hold(p_tenant, p_request);
    IF subject IS NULL THEN
        code := 'unknown';
        RETURN;
    END IF;
    v_now := clock_timestamp();
    SELECT q.status, q.deadline, q.ref, q.version, q.risk, q.initiators, v.title, v.digest INTO r
      FROM approvals_approvalrequest q
      JOIN approvals_requestversion v ON v.tenant_id = q.tenant_id AND v.request_id = q.id AND v.number = q.version
     WHERE q.tenant_id = p_tenant AND q.id = p_request;
    IF r.status <> 'pending' OR r.deadline > v_now THEN
        code := CASE r.status WHEN 'pending' THEN 'early' ELSE r.status END;
        RETURN;
    END IF;
    v_silence := request_silence(p_tenant, p_request);
    v_yes := v_silence = 'approve' AND r.risk = 'low';
    code := CASE WHEN v_yes THEN 'approved' ELSE 'expired' END;
    ref := r.ref;
    initiators := r.initiators;
    fail_run := NOT v_yes AND v_silence = 'fail_run';
    last_event := request_end(
        p_tenant, p_request, code, CASE WHEN v_yes THEN 'approve' ELSE '' END, '', '', p_actor, v_now, 'approval.' || code,
        replace(CASE WHEN v_yes THEN p_agreed ELSE p_expired END, '{title}', r.title),
        jsonb_strip_nulls(jsonb_build_object(
            'request', p_request, 'step', CASE WHEN r.ref ~ '^[0-9]+$' THEN r.ref::bigint END, 'version', r.version,
            'decision', CASE WHEN v_yes THEN 'approve' ELSE '' END, 'comment', '', 'digest', r.digest,
            'because', CASE WHEN v_yes THEN 'silence' END)));
END $$
"""

ADVANCE = """
-- How far a pending request has travelled, when to look again, and who may answer now; who was not asked before.
CREATE FUNCTION request_advance(
    p_tenant uuid, p_request uuid, p_now timestamptz, p_may json, p_level integer, p_rung integer, p_short integer,
    p_due_at timestamptz, p_next_at timestamptz, p_stamp bigint
) RETURNS SETOF uuid LANGUAGE plpgsql SECURITY INVOKER ROWS 10 AS $$
BEGIN
    PERFORM request_climb(p_tenant, p_request, p_level, p_rung, p_short, p_due_at, p_next_at, p_stamp);
    RETURN QUERY SELECT * FROM request_ask(p_tenant, p_request, p_now, p_may);
END $$
"""

FUNCTIONS = (SILENCE, LAPSE, ADVANCE)
DROP = "DROP FUNCTION request_silence, request_lapse, request_advance"


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0008_share_what_many_requests_say")]

    operations: ClassVar = [migrations.RunSQL([(each, None) for each in FUNCTIONS], DROP)]
