-- Queue a parked run: NULL where it is in any other state, or needs attention for what this does not mend: a budget, a
-- crash loop or, but for `version` itself, a version. The lock is held.
CREATE FUNCTION run_wake(p_tenant uuid, p_run uuid, p_because text, p_actor jsonb, p_data jsonb) RETURNS bigint
LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    UPDATE runs_run r SET status = 'queued', reason = '', updated_at = clock_timestamp(), due_at = clock_timestamp()
     WHERE r.tenant_id = p_tenant AND r.id = p_run AND r.status IN ('waiting_approval', 'sleeping', 'needs_attention')
       AND (r.reason NOT IN ('budget', 'crash_loop', 'version') OR r.reason = p_because);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN event_append(p_tenant, 'run:' || p_run, 'run.resumed', p_actor, '', jsonb_build_object('because', p_because) || p_data);
END $$;

-- Whether a run's turn has all its results, or another call of it waits for the rules and for nobody.
CREATE FUNCTION run_can_go_on(p_tenant uuid, p_run uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY INVOKER AS $$
    WITH pending AS (
        SELECT s.seq, s.status FROM runs_step s
         WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.status IN ('planned', 'started', 'unknown'))
    SELECT NOT EXISTS (SELECT FROM pending) OR EXISTS (
        SELECT FROM pending p WHERE p.status = 'planned' AND coalesce((
            SELECT q.status <> 'pending' FROM approvals_approvalrequest q
             WHERE q.tenant_id = p_tenant AND q.subject = 'run:' || p_run AND q.ref = p.seq::text
             ORDER BY q.opened_at DESC, q.id DESC LIMIT 1), true))
$$;

-- What an answer means for its run: close the step of a call that got no yes, with what the model reads, and queue the run
-- where it can go on. A step that was closed with its run stays as it is. The lock is held.
CREATE FUNCTION run_answered(
    p_tenant uuid, p_run uuid, p_seq bigint, p_request uuid, p_status text, p_reason text, p_text text, p_actor jsonb,
    OUT last_event bigint, OUT woken boolean
) LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_declined bigint;
BEGIN
    IF p_status <> 'approved' THEN
        SELECT d.last_event INTO v_declined FROM journal_decline(p_tenant, p_run, NULL, p_seq, p_reason, p_text, p_actor, '') d;
    END IF;
    IF p_status = 'approved' OR run_can_go_on(p_tenant, p_run) THEN
        last_event := run_wake(p_tenant, p_run, p_status, p_actor, jsonb_build_object('request', p_request, 'step', p_seq));
    END IF;
    woken := last_event IS NOT NULL;
    last_event := coalesce(last_event, v_declined);
END $$;
