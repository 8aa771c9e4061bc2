"""What thousands of due requests come to, each in one statement: silence, or the steps that were planned for it."""

from typing import ClassVar

from django.db import migrations

LAPSED = """
-- If the request still waits and its deadline has come, silence ends it as its rules say: through `request_end`, as every
-- end. The lock is held. `last_event` is NULL where nothing was ended, and `code` says why: early, the state that stands,
-- or `fail_run` where the rules let it fail the run and `p_may_fail` is false. The sentences hold {title}.
CREATE FUNCTION request_lapsed(
    p_tenant uuid, p_request uuid, p_actor jsonb, p_expired text, p_agreed text, p_may_fail boolean,
    OUT code text, OUT ref text, OUT initiators uuid[], OUT fail_run boolean, OUT last_event bigint
) LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    r record;
    v_now timestamptz := clock_timestamp();
    v_yes boolean;
BEGIN
    SELECT q.status, q.deadline, q.ref, q.version, q.risk, q.initiators, v.title, v.digest,
           coalesce(q.requirement->>'on_timeout', w.body->>'on_timeout') AS silence INTO r
      FROM approvals_approvalrequest q
      JOIN approvals_requestversion v ON v.tenant_id = q.tenant_id AND v.request_id = q.id AND v.number = q.version
      LEFT JOIN approvals_wording w ON w.tenant_id = q.tenant_id AND w.digest = q.requirement_digest
     WHERE q.tenant_id = p_tenant AND q.id = p_request;
    IF r.status <> 'pending' OR r.deadline > v_now THEN
        code := CASE r.status WHEN 'pending' THEN 'early' ELSE r.status END;
        RETURN;
    END IF;
    v_yes := coalesce(r.silence = 'approve' AND r.risk = 'low', false);
    fail_run := NOT v_yes AND coalesce(r.silence = 'fail_run', false);
    IF fail_run AND NOT p_may_fail THEN
        code := 'fail_run';
        RETURN;
    END IF;
    code := CASE WHEN v_yes THEN 'approved' ELSE 'expired' END;
    ref := r.ref;
    initiators := r.initiators;
    last_event := request_end(
        p_tenant, p_request, code, CASE WHEN v_yes THEN 'approve' ELSE '' END, '', '', p_actor, v_now, 'approval.' || code,
        replace(CASE WHEN v_yes THEN p_agreed ELSE p_expired END, '{title}', r.title),
        jsonb_strip_nulls(jsonb_build_object(
            'request', p_request, 'step', CASE WHEN r.ref ~ '^[0-9]+$' THEN r.ref::bigint END, 'version', r.version,
            'decision', CASE WHEN v_yes THEN 'approve' ELSE '' END, 'comment', '', 'digest', r.digest,
            'because', CASE WHEN v_yes THEN 'silence' END)));
END $$
"""

# The same as before, in the place of what it did itself.
LAPSE = """
CREATE OR REPLACE FUNCTION request_lapse(
    p_tenant uuid, p_request uuid, p_actor jsonb, p_expired text, p_agreed text,
    OUT code text, OUT subject text, OUT ref text, OUT initiators uuid[], OUT fail_run boolean, OUT last_event bigint
) LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    subject := request_hold(p_tenant, p_request);
    IF subject IS NULL THEN
        code := 'unknown';
        RETURN;
    END IF;
    SELECT l.code, l.ref, l.initiators, l.fail_run, l.last_event
      INTO request_lapse.code, request_lapse.ref, request_lapse.initiators, request_lapse.fail_run, request_lapse.last_event
      FROM request_lapsed(p_tenant, p_request, p_actor, p_expired, p_agreed, true) l;
END $$
"""

TELL = """
-- Deliveries that were planned, each told once.
CREATE FUNCTION request_tell(p_tenant uuid, p_request uuid, p_told jsonb) RETURNS void LANGUAGE sql SECURITY INVOKER AS $$
    INSERT INTO approvals_delivery (id, tenant_id, request_id, member_id, channel_id, kind, key, transport, address, status,
                                    attempts, due_at, error, bundled)
    SELECT t.id, p_tenant, p_request, t.member_id, t.channel_id, t.kind, t.key, t.transport, t.address, 'pending',
           0, coalesce(t.due_at, clock_timestamp()), '', t.bundled
      FROM jsonb_to_recordset(p_told) AS t(id uuid, member_id uuid, channel_id uuid, kind text, key text, transport text,
                                           address text, due_at timestamptz, bundled boolean)
    ON CONFLICT DO NOTHING
$$
"""

SILENT = """
-- A request of which it was read that its deadline has come: take its lock, read it again, and let silence end it. Whom it
-- is told was read at the tenant's stamp `p_stamp`; `moved` where that has grown.
CREATE FUNCTION request_silent(
    p_tenant uuid, p_request uuid, p_subject text, p_stamp bigint, p_actor jsonb, p_expired text, p_agreed text, p_told jsonb,
    OUT code text, OUT ref text, OUT last_event bigint
) LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    PERFORM subject_lock(p_tenant, p_subject);
    IF p_told IS NOT NULL AND NOT EXISTS (SELECT FROM tenants_tenant t WHERE t.id = p_tenant AND t.stamp = p_stamp) THEN
        code := 'moved';
        RETURN;
    END IF;
    SELECT l.code, l.ref, l.last_event INTO request_silent.code, request_silent.ref, request_silent.last_event
      FROM request_lapsed(p_tenant, p_request, p_actor, p_expired, p_agreed, false) l;
    IF p_told IS NOT NULL AND last_event IS NOT NULL THEN
        PERFORM request_tell(p_tenant, p_request, p_told);
    END IF;
END $$
"""

ASCEND = """
-- The steps that were planned for a request, taken if it still is what they were planned for: take its lock, and see that
-- its row is the very version `p_row` that was read, with no answer and no reassignment, and the tenant's stamp the same.
-- Everything that changes who is asked writes one of these. `code` is ok, moved, or the state that stands. `p_may` is NULL
-- where those who are asked stay the same; `p_facts` are its events as [{message, data}].
CREATE FUNCTION request_ascend(
    p_tenant uuid, p_request uuid, p_subject text, p_row text, p_now timestamptz, p_may json, p_level integer,
    p_rung integer, p_short integer, p_due_at timestamptz, p_next_at timestamptz, p_stamp bigint, p_actor jsonb,
    p_facts jsonb, p_told jsonb, OUT code text, OUT last_event bigint
) LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    f record;
BEGIN
    PERFORM subject_lock(p_tenant, p_subject);
    SELECT CASE WHEN r.status <> 'pending' THEN r.status
                WHEN r.xmin::text = p_row AND r.deadline > clock_timestamp() AND t.stamp = p_stamp
                     AND NOT EXISTS (SELECT FROM approvals_review w WHERE w.tenant_id = r.tenant_id AND w.request_id = r.id)
                     AND NOT EXISTS (SELECT FROM approvals_reassignment m
                                      WHERE m.tenant_id = r.tenant_id AND m.request_id = r.id) THEN 'ok'
                ELSE 'moved' END
      INTO code
      FROM approvals_approvalrequest r JOIN tenants_tenant t ON t.id = r.tenant_id
     WHERE r.tenant_id = p_tenant AND r.id = p_request;
    IF code IS DISTINCT FROM 'ok' THEN
        RETURN;
    END IF;
    PERFORM request_climb(p_tenant, p_request, p_level, p_rung, p_short, p_due_at, p_next_at, p_stamp);
    IF p_may IS NOT NULL THEN
        PERFORM request_ask(p_tenant, p_request, p_now, p_may);
    END IF;
    IF p_facts IS NOT NULL THEN
        FOR f IN SELECT x.message, x.data FROM jsonb_to_recordset(p_facts) AS x(message text, data jsonb) LOOP
            last_event := event_append(p_tenant, p_subject, 'approval.escalated', p_actor, f.message, f.data);
        END LOOP;
    END IF;
    IF p_told IS NOT NULL THEN
        PERFORM request_tell(p_tenant, p_request, p_told);
    END IF;
END $$
"""

FUNCTIONS = (LAPSED, LAPSE, TELL, SILENT, ASCEND)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0018_each_way_out_in_turn")]

    operations: ClassVar = [migrations.RunSQL([(each, None) for each in FUNCTIONS], migrations.RunSQL.noop)]
