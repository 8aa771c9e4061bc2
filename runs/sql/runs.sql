-- Steps with an open attempt: what a worker has, or had, in its hand.
CREATE FUNCTION journal_in_hand(p_tenant uuid, p_run uuid) RETURNS bigint[] LANGUAGE sql STABLE SECURITY INVOKER AS $$
    SELECT coalesce(array_agg(DISTINCT s.seq ORDER BY s.seq), '{}')
      FROM runs_step s
      JOIN runs_attempt a ON a.tenant_id = s.tenant_id AND a.run_id = s.run_id AND a.seq = s.seq AND a.number = s.attempts
     WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.status IN ('planned', 'started') AND a.closed_at IS NULL
$$;

-- End one step that will not go on, by what is known of its last attempt. The lock is held.
CREATE FUNCTION journal_end_step(p_tenant uuid, p_run uuid, p_seq bigint, p_actor jsonb) RETURNS void
LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    s runs_step;
    a runs_attempt;
    v_status text;
BEGIN
    SELECT * INTO s FROM runs_step x WHERE x.tenant_id = p_tenant AND x.run_id = p_run AND x.seq = p_seq;
    SELECT * INTO a FROM runs_attempt x
     WHERE x.tenant_id = p_tenant AND x.run_id = p_run AND x.seq = p_seq AND x.number = s.attempts;
    v_status := CASE
        WHEN s.status = 'planned' THEN CASE s.kind WHEN 'tool_call' THEN 'declined' ELSE 'cancelled' END
        WHEN s.kind <> 'tool_call' OR s.effect = 'read' THEN 'failed'
        WHEN a.closed_at IS NOT NULL AND a.not_done THEN 'declined'
        ELSE 'unknown' END;
    UPDATE runs_step x
       SET status = v_status, reason = 'cancelled', due_at = NULL,
           unknown_since = CASE WHEN v_status = 'unknown' THEN clock_timestamp() END
     WHERE x.tenant_id = p_tenant AND x.run_id = p_run AND x.seq = p_seq;
    UPDATE runs_step x
       SET last_closed_at = clock_timestamp(), last_cause = 'crashed', last_message = '', last_not_done = (s.status = 'planned')
     WHERE x.tenant_id = p_tenant AND x.run_id = p_run AND x.seq = p_seq
       AND x.last_opened_at IS NOT NULL AND x.last_closed_at IS NULL;
    IF v_status = 'unknown' THEN
        UPDATE runs_run r SET unsettled = true WHERE r.tenant_id = p_tenant AND r.id = p_run;
    END IF;
    PERFORM event_append(p_tenant, 'run:' || p_run, CASE v_status WHEN 'cancelled' THEN 'step.declined' ELSE 'step.' || v_status END,
                         p_actor, '', journal_fact(p_seq, s.tool, nullif(s.attempts, 0), 'cancelled', '', NULL));
END $$;

-- A finished run starts nothing: end every step that has not started or is between attempts. What a live holder has in
-- its hand is left to it; what a lost one had is ended too, but for a tool that can be asked (`lookup`).
CREATE FUNCTION journal_end_steps(p_tenant uuid, p_run uuid, p_actor jsonb) RETURNS bigint[]
LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_held boolean;
    v_hand bigint[];
    v_seq bigint;
BEGIN
    -- Nearly always nothing is left: seen in one look at the steps, which may be thousands.
    IF NOT EXISTS (SELECT FROM runs_step s
                    WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.status IN ('planned', 'started')) THEN
        RETURN '{}';
    END IF;
    v_hand := journal_in_hand(p_tenant, p_run);
    SELECT l.until > clock_timestamp() INTO v_held FROM runs_lease l WHERE l.tenant_id = p_tenant AND l.run_id = p_run;
    FOR v_seq IN
        SELECT s.seq FROM runs_step s
         WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.status IN ('planned', 'started')
           AND (s.seq <> ALL (v_hand) OR NOT coalesce(v_held, false) AND NOT (s.effect = 'lookup' AND s.status = 'started'))
         ORDER BY s.seq
    LOOP
        PERFORM journal_end_step(p_tenant, p_run, v_seq, p_actor);
    END LOOP;
    RETURN journal_in_hand(p_tenant, p_run);
END $$;

-- The writer of a run's state; the start of a lease and `run_wake` write theirs beside it. The lock is held. A parked run
-- carries the earliest time of its steps, unless only a person leads out; a queued one is announced again by the next
-- sweep, one without a worker looked at again. Steps are ended before the event of the end, which names what is still in
-- hand.
CREATE FUNCTION run_move(
    p_tenant uuid, p_run uuid, p_status text, p_reason text, p_actor jsonb, p_event text, p_message text, p_data jsonb
) RETURNS bigint LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_finished boolean := p_status IN ('succeeded', 'failed', 'cancelled');
    v_data jsonb := p_data;
    v_hand bigint[];
BEGIN
    IF v_finished THEN
        v_hand := journal_end_steps(p_tenant, p_run, p_actor);
        IF v_hand <> '{}' THEN
            v_data := v_data || jsonb_build_object('in_hand', to_jsonb(v_hand));
        END IF;
    END IF;
    IF p_reason <> '' THEN
        v_data := v_data || jsonb_build_object('reason', p_reason);
    END IF;
    UPDATE runs_run r
       SET status = p_status, reason = p_reason, updated_at = clock_timestamp(),
           finished_at = CASE WHEN v_finished THEN clock_timestamp() END,
           due_at = CASE
               WHEN p_status = 'queued' THEN clock_timestamp()
               WHEN p_status = 'needs_attention' AND p_reason = 'version' THEN clock_timestamp() + interval '1 second'
               WHEN p_status = 'needs_attention' AND p_reason IN ('budget', 'crash_loop') THEN NULL
               WHEN p_status IN ('waiting_approval', 'sleeping', 'needs_attention') THEN
                   (SELECT min(s.due_at) FROM runs_step s
                     WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.status IN ('planned', 'started'))
           END
     WHERE r.tenant_id = p_tenant AND r.id = p_run;
    RETURN event_append(p_tenant, 'run:' || p_run, p_event, p_actor, p_message, v_data);
END $$;

-- A holder stops: the run's new state and the end of the lease in one commit.
CREATE FUNCTION journal_stop(
    p_tenant uuid, p_run uuid, p_fence bigint, p_status text, p_reason text, p_actor jsonb, p_event text, p_message text,
    p_data jsonb, p_result text, OUT code text, OUT status text, OUT last_event bigint
) LANGUAGE plpgsql SECURITY INVOKER SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true), subject_lock(p_tenant, 'run:' || p_run);
    SELECT r.status INTO journal_stop.status
      FROM runs_lease l JOIN runs_run r ON r.tenant_id = l.tenant_id AND r.id = l.run_id
     WHERE l.tenant_id = p_tenant AND l.run_id = p_run AND l.fence = p_fence AND l.until > clock_timestamp();
    code := CASE WHEN journal_stop.status IS NULL THEN 'lost' WHEN journal_stop.status <> 'running' THEN 'halted' ELSE 'ok' END;
    IF code <> 'ok' THEN
        RETURN;
    END IF;
    IF p_result IS NOT NULL THEN
        -- The answer that ended the run; where it lies in storage, what is given here is its beginning.
        INSERT INTO runs_text (tenant_id, run_id, seq, name, body, payload)
        VALUES (p_tenant, p_run, 0, 'result', p_result,
                (SELECT (s.payloads ->> 'result')::uuid FROM runs_step s
                  WHERE s.tenant_id = p_tenant AND s.run_id = p_run ORDER BY s.seq DESC LIMIT 1))
        ON CONFLICT (tenant_id, run_id, seq, name) DO UPDATE SET body = EXCLUDED.body, payload = EXCLUDED.payload;
    END IF;
    PERFORM lease_end(p_tenant, p_run, p_fence);
    last_event := run_move(p_tenant, p_run, p_status, p_reason, p_actor, p_event, p_message, p_data);
END $$;

-- What the sweep does about a lapsed lease. A holder that vanished `p_limit` times at one step is a matter for a person.
CREATE FUNCTION journal_recover(p_tenant uuid, p_run uuid, p_limit integer, p_actor jsonb) RETURNS text
LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_status text;
    v_fence bigint;
    v_seq bigint;
    v_crashes integer;
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true), subject_lock(p_tenant, 'run:' || p_run);
    SELECT r.status, l.fence INTO v_status, v_fence
      FROM runs_lease l JOIN runs_run r ON r.tenant_id = l.tenant_id AND r.id = l.run_id
     WHERE l.tenant_id = p_tenant AND l.run_id = p_run AND l.until <= clock_timestamp();
    IF v_status = 'running' THEN
        v_seq := coalesce((journal_in_hand(p_tenant, p_run))[1], 0);
        PERFORM lease_end(p_tenant, p_run, v_fence);
        UPDATE runs_lease l
           SET crashes = CASE WHEN l.crash_seq = v_seq THEN l.crashes + 1 ELSE 1 END, crash_seq = v_seq
         WHERE l.tenant_id = p_tenant AND l.run_id = p_run
     RETURNING l.crashes INTO v_crashes;
        IF v_crashes >= p_limit AND v_seq > 0 THEN
            v_status := 'needs_attention';
            PERFORM run_move(p_tenant, p_run, v_status, 'crash_loop', p_actor, 'run.attention', '',
                             jsonb_build_object('step', v_seq, 'crashes', v_crashes));
        ELSE
            v_status := 'queued';
            PERFORM run_move(p_tenant, p_run, v_status, '', p_actor, 'run.recovered', '',
                             jsonb_strip_nulls(jsonb_build_object('because', 'lease_lapsed', 'step', nullif(v_seq, 0))));
        END IF;
    ELSIF v_status IN ('succeeded', 'failed', 'cancelled') THEN
        IF journal_end_steps(p_tenant, p_run, p_actor) = '{}' THEN
            PERFORM lease_end(p_tenant, p_run, v_fence);
        END IF;
    END IF;
    RETURN v_status;
END $$;
