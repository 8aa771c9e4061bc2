-- Take a queued run, if nobody holds it and the worker knows its version; or a finished one, to settle what a lost
-- holder left in its hand. One commit; the fence grows each time. With the lease comes the run as the journal begins with
-- it, from the rows that are written anyway.
CREATE FUNCTION run_take(
    p_tenant uuid, p_run uuid, p_worker text, p_seconds double precision, p_knows text[], p_actor jsonb,
    OUT code text, OUT fence bigint, OUT started bigint,
    OUT agent text, OUT version text, OUT title text, OUT status text, OUT reason text, OUT labels text, OUT initiators uuid[],
    OUT started_by text, OUT budget text, OUT deadline timestamptz, OUT created_at timestamptz, OUT input text,
    OUT worked double precision, OUT last_event bigint
) LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_subject bytea := subject_of_run(p_run);
    v_until timestamptz;
    v_now timestamptz;
    v_coming boolean;
BEGIN
    -- The tenant, then the lock, in one expression: as a query it would cost four times as much. What this transaction asks
    -- is planned once and by the indexes: the plan is kept, and a new connection would make five of each before it is.
    code := set_config('app.tenant', p_tenant::text, true) || subject_lock(p_tenant, 'run:' || p_run)
        || set_config('plan_cache_mode', 'force_generic_plan', true) || set_config('enable_seqscan', 'off', true);
    -- Where a webhook is coming just now nobody waits for it, since who saves it may stand still: the run counts as heard.
    v_coming := NOT pg_try_advisory_xact_lock_shared(subject_key(p_tenant, '#heard'));
    v_now := clock_timestamp();
    WITH run AS (
        UPDATE runs_run r SET status = 'running', reason = '', due_at = NULL, updated_at = v_now
          FROM runs_lease l
         WHERE r.tenant_id = p_tenant AND r.id = p_run
           -- Not to be found by: an index on the status is as good as that on the key while there are few runs.
           AND CASE r.status WHEN 'queued' THEN coalesce(r.deadline > v_now, true) AND r.agent || '@' || r.version = ANY (p_knows)
                    ELSE false END
           AND l.tenant_id = p_tenant AND l.run_id = p_run AND (l.until IS NULL OR l.until <= v_now)
     RETURNING r.agent, r.version, r.title, r.status, r.reason, r.labels, r.initiators, r.started_by, r.budget, r.deadline,
               r.created_at, l.worked, l.fence + 1 AS fence),
    lease AS (
        UPDATE runs_lease l
           SET fence = run.fence, holder = p_worker, since = v_now, until = v_now + make_interval(secs => p_seconds),
               stopped = false, halted = asked.heard, heard = asked.heard
          FROM run, (SELECT v_coming OR EXISTS (SELECT FROM approvals_channel c
                                                 WHERE c.tenant_id = p_tenant AND c.kind = 'webhook' AND c.enabled)) AS asked(heard)
         WHERE l.tenant_id = p_tenant AND l.run_id = p_run),
    event AS (
        INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
        SELECT p_tenant, v_subject,
               coalesce((SELECT max(e.seq) FROM tenants_event e WHERE e.tenant_id = p_tenant AND e.subject = v_subject), 0) + 1,
               'run.started', v_now, p_actor, '', jsonb_build_object('fence', run.fence)
          FROM run
     RETURNING tenants_event.seq)
    SELECT run.fence, event.seq, run.agent, run.version, run.title, run.status, run.reason, run.labels::text, run.initiators,
           run.started_by::text, run.budget::text, run.deadline, run.created_at, run.worked, event.seq,
           (SELECT t.body FROM runs_text t
             WHERE t.tenant_id = p_tenant AND t.run_id = p_run AND t.seq = 0 AND t.name = 'input')
      INTO run_take.fence, run_take.started, run_take.agent, run_take.version, run_take.title, run_take.status,
           run_take.reason, run_take.labels, run_take.initiators, run_take.started_by, run_take.budget, run_take.deadline,
           run_take.created_at, run_take.worked, run_take.last_event, run_take.input
      FROM run, event;
    code := 'ok';
    IF run_take.fence IS NOT NULL THEN
        PERFORM events_appended(p_tenant, v_subject, run_take.started, run_take.started);
        RETURN;
    END IF;
    SELECT j.agent, j.version, j.title, j.status, j.reason, j.labels, j.initiators, j.started_by, j.budget, j.deadline,
           j.created_at, j.input, j.worked, j.last_event
      INTO run_take.agent, run_take.version, run_take.title, run_take.status, run_take.reason, run_take.labels,
           run_take.initiators, run_take.started_by, run_take.budget, run_take.deadline, run_take.created_at,
           run_take.input, run_take.worked, run_take.last_event
      FROM journal_read_run(p_tenant, p_run) j;
    SELECT l.until INTO v_until FROM runs_lease l WHERE l.tenant_id = p_tenant AND l.run_id = p_run;
    code := CASE
        WHEN run_take.status IS NULL THEN 'gone'
        WHEN v_until > v_now THEN 'held'
        WHEN NOT run_take.agent || '@' || run_take.version = ANY (p_knows) THEN 'version'
        WHEN run_take.status = 'queued' THEN 'deadline'
        WHEN run_take.status IN ('succeeded', 'failed', 'cancelled') AND journal_in_hand(p_tenant, p_run) <> '{}' THEN 'ok'
        ELSE 'status'
    END;
    IF code = 'ok' THEN
        UPDATE runs_lease l
           SET fence = l.fence + 1, holder = p_worker, since = v_now, until = v_now + make_interval(secs => p_seconds),
               stopped = true, halted = true,
               heard = v_coming OR EXISTS (SELECT FROM approvals_channel c
                                            WHERE c.tenant_id = p_tenant AND c.kind = 'webhook' AND c.enabled)
         WHERE l.tenant_id = p_tenant AND l.run_id = p_run
     RETURNING l.fence INTO run_take.fence;
    END IF;
END $$;

-- The same without the run, for a worker of the release before.
CREATE FUNCTION lease_acquire(
    p_tenant uuid, p_run uuid, p_worker text, p_seconds double precision, p_knows text[], p_actor jsonb,
    OUT code text, OUT fence bigint, OUT agent text, OUT version text, OUT last_event bigint
) LANGUAGE sql SECURITY INVOKER AS $$
    SELECT t.code, t.fence, t.agent, t.version, t.started FROM run_take(p_tenant, p_run, p_worker, p_seconds, p_knows, p_actor) t
$$;

-- What a boundary would else have to read the run for.
CREATE FUNCTION lease_halts() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    IF OLD.status = 'running' AND NEW.status <> 'running' THEN
        UPDATE runs_lease l SET stopped = true, halted = true
         WHERE l.tenant_id = NEW.tenant_id AND l.run_id = NEW.id AND l.until IS NOT NULL;
    END IF;
    RETURN NULL;
END $$;

-- What each statement that tells of a run would else have to ask for. A lease that is being taken just now has found
-- the webhook or the lock that is held here, or is found here. Leases are locked in one order, here and where they are renewed.
-- It counts as halted: a worker of the release before that knows that it is heard tells nobody by its own statement, and is
-- to ask the function of the boundary.
CREATE FUNCTION lease_heard() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    IF NEW.kind = 'webhook' AND NEW.enabled THEN
        PERFORM pg_advisory_xact_lock(subject_key(NEW.tenant_id, '#heard'));
        PERFORM FROM runs_lease l
          WHERE l.tenant_id = NEW.tenant_id AND l.until IS NOT NULL AND NOT l.heard ORDER BY l.run_id FOR UPDATE;
        UPDATE runs_lease l SET heard = true, halted = true
         WHERE l.tenant_id = NEW.tenant_id AND l.until IS NOT NULL AND NOT l.heard;
    END IF;
    RETURN NULL;
END $$;

-- The one write outside the lock: it says again, by fence, what is still true. Which of these leases are held, and whether
-- they last longer now: one that somebody has locked, to stop its run or to let a webhook hear of it, is left for the next
-- time. Whoever does so may stand still, and all other leases of the process would lapse meanwhile.
CREATE FUNCTION lease_keep(p_tenant uuid, p_runs uuid[], p_fences bigint[], p_seconds double precision)
RETURNS TABLE (run uuid, renewed boolean) LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true);
    RETURN QUERY
    WITH mine AS (SELECT m.run_id, m.fence FROM unnest(p_runs, p_fences) AS m(run_id, fence)),
    free AS (
        SELECT l.run_id FROM runs_lease l JOIN mine m ON m.run_id = l.run_id AND m.fence = l.fence
         WHERE l.tenant_id = p_tenant AND l.until > clock_timestamp()
           FOR UPDATE OF l SKIP LOCKED),
    kept AS (
        UPDATE runs_lease l SET until = clock_timestamp() + make_interval(secs => p_seconds)
          FROM free
         WHERE l.tenant_id = p_tenant AND l.run_id = free.run_id
     RETURNING l.run_id)
    SELECT l.run_id, EXISTS (SELECT FROM kept k WHERE k.run_id = l.run_id)
      FROM runs_lease l JOIN mine m ON m.run_id = l.run_id AND m.fence = l.fence
     WHERE l.tenant_id = p_tenant AND l.until > clock_timestamp();
END $$;

-- The same for a worker of the release before, which waits.
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
