-- Queue a parked run, but not one in any other state, nor one that needs attention for what this does not mend: a budget,
-- a crash loop or, but for `version` itself, a version. Two events at the most that led to it are written before its own,
-- woken or not; with neither there is no last one. The lock is held.
CREATE FUNCTION run_wake_after(
    p_tenant uuid, p_run uuid, p_because text, p_actor jsonb, p_data jsonb, p_names text[], p_messages text[], p_story text[],
    OUT last_event bigint, OUT woken boolean
) LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_before bigint;
BEGIN
    UPDATE runs_run r SET status = 'queued', reason = '', updated_at = clock_timestamp(), due_at = clock_timestamp()
     WHERE r.tenant_id = p_tenant AND r.id = p_run AND r.status IN ('waiting_approval', 'sleeping', 'needs_attention')
       AND (r.reason NOT IN ('budget', 'crash_loop', 'version') OR r.reason = p_because)
 RETURNING (SELECT max(e.seq) FROM tenants_event e WHERE e.tenant_id = p_tenant AND e.subject = subject_of_run(p_run))
      INTO v_before;
    woken := FOUND;
    IF NOT woken THEN
        IF p_names = '{}' THEN
            RETURN;
        END IF;
        SELECT max(e.seq) INTO v_before FROM tenants_event e
         WHERE e.tenant_id = p_tenant AND e.subject = subject_of_run(p_run);
    END IF;
    v_before := coalesce(v_before, 0);
    last_event := v_before + cardinality(p_names) + woken::integer;
    INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
    SELECT p_tenant, subject_of_run(p_run), e.seq, e.name, clock_timestamp(), p_actor, e.message, e.data
      FROM (VALUES (v_before + 1, p_names[1], p_messages[1], p_story[1]::jsonb),
                   (v_before + 2, p_names[2], p_messages[2], p_story[2]::jsonb),
                   (last_event, CASE WHEN woken THEN 'run.resumed' END, '', jsonb_build_object('because', p_because) || p_data))
           AS e(seq, name, message, data)
     WHERE e.name IS NOT NULL;
    PERFORM events_appended(p_tenant, subject_of_run(p_run), v_before + 1, last_event);
END $$;

-- The same with nothing before it: the number of its event, NULL where it is not woken.
CREATE FUNCTION run_wake(p_tenant uuid, p_run uuid, p_because text, p_actor jsonb, p_data jsonb) RETURNS bigint
LANGUAGE sql SECURITY INVOKER AS $$
    SELECT w.last_event FROM run_wake_after(p_tenant, p_run, p_because, p_actor, p_data, '{}', '{}', '{}') w
$$;

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
