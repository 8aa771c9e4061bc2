-- Take a queued run, if nobody holds it and the worker knows its version; or a finished one, to settle what a lost
-- holder left in its hand. One commit; the fence grows each time.
CREATE FUNCTION lease_acquire(
    p_tenant uuid, p_run uuid, p_worker text, p_seconds double precision, p_knows text[], p_actor jsonb,
    OUT code text, OUT fence bigint, OUT agent text, OUT version text, OUT last_event bigint
) LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_status text;
    v_deadline timestamptz;
    v_until timestamptz;
    v_now timestamptz;
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true), subject_lock(p_tenant, 'run:' || p_run),
            pg_advisory_xact_lock_shared(subject_key(p_tenant, '#heard'));
    SELECT r.status, r.agent, r.version, r.deadline, l.until
      INTO v_status, lease_acquire.agent, lease_acquire.version, v_deadline, v_until
      FROM runs_run r JOIN runs_lease l ON l.tenant_id = r.tenant_id AND l.run_id = r.id
     WHERE r.tenant_id = p_tenant AND r.id = p_run;
    v_now := clock_timestamp();
    code := CASE
        WHEN v_status IS NULL THEN 'gone'
        WHEN v_until > v_now THEN 'held'
        WHEN NOT agent || '@' || version = ANY (p_knows) THEN 'version'
        WHEN v_status = 'queued' AND v_deadline <= v_now THEN 'deadline'
        WHEN v_status = 'queued' THEN 'ok'
        WHEN v_status IN ('succeeded', 'failed', 'cancelled') AND journal_in_hand(p_tenant, p_run) <> '{}' THEN 'ok'
        ELSE 'status'
    END;
    IF code <> 'ok' THEN
        RETURN;
    END IF;
    UPDATE runs_lease l
       SET fence = l.fence + 1, holder = p_worker, since = v_now, until = v_now + make_interval(secs => p_seconds),
           halted = v_status <> 'queued',
           heard = EXISTS (SELECT FROM approvals_channel c WHERE c.tenant_id = p_tenant AND c.kind = 'webhook' AND c.enabled)
     WHERE l.tenant_id = p_tenant AND l.run_id = p_run
 RETURNING l.fence INTO lease_acquire.fence;
    IF v_status = 'queued' THEN
        UPDATE runs_run r SET status = 'running', reason = '', due_at = NULL, updated_at = v_now
         WHERE r.tenant_id = p_tenant AND r.id = p_run;
        last_event := event_append(p_tenant, 'run:' || p_run, 'run.started', p_actor, '', jsonb_build_object('fence', fence));
    END IF;
END $$;

-- What a boundary would else have to read the run for.
CREATE FUNCTION lease_halts() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    IF OLD.status = 'running' AND NEW.status <> 'running' THEN
        UPDATE runs_lease l SET halted = true
         WHERE l.tenant_id = NEW.tenant_id AND l.run_id = NEW.id AND l.until IS NOT NULL;
    END IF;
    RETURN NULL;
END $$;

-- What each statement that tells of a run would else have to ask for. A lease that is being taken just now has found
-- the webhook, or is found here: both hold the same lock. Leases are locked in one order, here and where they are renewed.
CREATE FUNCTION lease_heard() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    IF NEW.kind = 'webhook' AND NEW.enabled THEN
        PERFORM pg_advisory_xact_lock(subject_key(NEW.tenant_id, '#heard'));
        PERFORM FROM runs_lease l
          WHERE l.tenant_id = NEW.tenant_id AND l.until IS NOT NULL AND NOT l.heard ORDER BY l.run_id FOR UPDATE;
        UPDATE runs_lease l SET heard = true
         WHERE l.tenant_id = NEW.tenant_id AND l.until IS NOT NULL AND NOT l.heard;
    END IF;
    RETURN NULL;
END $$;

-- The one write outside the lock: it says again, by fence, what is still true.
CREATE FUNCTION lease_renew(p_tenant uuid, p_runs uuid[], p_fences bigint[], p_seconds double precision)
RETURNS TABLE (run uuid) LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true);
    PERFORM FROM runs_lease l WHERE l.tenant_id = p_tenant AND l.run_id = ANY (p_runs) ORDER BY l.run_id FOR UPDATE;
    RETURN QUERY
    UPDATE runs_lease l SET until = clock_timestamp() + make_interval(secs => p_seconds)
      FROM unnest(p_runs, p_fences) AS mine(run, fence)
     WHERE l.tenant_id = p_tenant AND l.run_id = mine.run AND l.fence = mine.fence AND l.until > clock_timestamp()
 RETURNING l.run_id;
END $$;

-- Give the lease up, if it is still this one; the run's state, or NULL where it was not.
CREATE FUNCTION lease_release(p_tenant uuid, p_run uuid, p_fence bigint) RETURNS text
LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true), subject_lock(p_tenant, 'run:' || p_run);
    IF NOT lease_end(p_tenant, p_run, p_fence) THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT r.status FROM runs_run r WHERE r.tenant_id = p_tenant AND r.id = p_run);
END $$;

-- Within a transaction that holds the lock.
CREATE FUNCTION lease_end(p_tenant uuid, p_run uuid, p_fence bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    UPDATE runs_lease l
       SET until = NULL, holder = '', since = NULL,
           worked = l.worked + coalesce(extract(epoch FROM least(clock_timestamp(), l.until) - l.since), 0)
     WHERE l.tenant_id = p_tenant AND l.run_id = p_run AND l.fence = p_fence AND l.until IS NOT NULL;
    RETURN FOUND;
END $$;
