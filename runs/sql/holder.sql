-- Whether this lease still holds and its run is running; the caller holds the lock.
CREATE FUNCTION journal_check(p_tenant uuid, p_run uuid, p_fence bigint, OUT code text, OUT status text)
LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    SELECT r.status INTO journal_check.status
      FROM runs_lease l JOIN runs_run r ON r.tenant_id = l.tenant_id AND r.id = l.run_id
     WHERE l.tenant_id = p_tenant AND l.run_id = p_run AND l.fence = p_fence AND l.until > clock_timestamp();
    code := CASE WHEN journal_check.status IS NULL THEN 'lost' WHEN journal_check.status <> 'running' THEN 'halted' ELSE 'ok' END;
END $$;

-- How far a step in hand is; NULL from a holder that has lost its lease.
CREATE FUNCTION journal_progress(p_tenant uuid, p_run uuid, p_fence bigint, p_actor jsonb, p_message text, p_data jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true), subject_lock(p_tenant, 'run:' || p_run);
    IF (journal_check(p_tenant, p_run, p_fence)).code = 'lost' THEN
        RETURN NULL;
    END IF;
    RETURN event_append(p_tenant, 'run:' || p_run, 'step.progress', p_actor, p_message, p_data);
END $$;

CREATE FUNCTION journal_held(p_tenant uuid, p_run uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY INVOKER AS $$
    SELECT coalesce((SELECT l.until > clock_timestamp() FROM runs_lease l WHERE l.tenant_id = p_tenant AND l.run_id = p_run), false)
$$;
