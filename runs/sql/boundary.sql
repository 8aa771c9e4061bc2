-- A worker's boundary: one round trip, one commit. Close what was open, write down what the turn asked for, open what
-- comes next. It answers `lost` and writes nothing where the fence is not this lease's; `halted` or `stale` where the
-- closing was recorded but nothing may be opened. The first step to be planned comes as scalars and, where it is opened
-- in the same commit, is written once; further ones come as p_more. A step's latest attempt lies in its own row; one that
-- is not the first puts the former beside it. The totals of usage come from the holder, which alone adds to them.
CREATE FUNCTION journal_boundary(
    p_tenant uuid, p_run uuid, p_fence bigint, p_actor jsonb,
    p_close bigint, p_status text, p_reason text, p_cause text, p_message text, p_not_done boolean,
    p_delay double precision, p_due_at timestamptz, p_result text, p_payloads jsonb,
    p_tokens_in bigint, p_tokens_out bigint, p_cost numeric, p_note text,
    p_new bigint, p_new_kind text, p_turn bigint, p_tool text, p_effect text, p_call_id text, p_new_digest text,
    p_proposed text, p_new_arguments text, p_rationale text, p_new_payloads jsonb, p_new_note text,
    p_more json,
    p_open bigint, p_kind text, p_key text, p_stamp bigint, p_arguments text, p_digest text, p_open_note text,
    p_tokens_total bigint DEFAULT NULL, p_cost_total numeric DEFAULT NULL,
    OUT code text, OUT status text, OUT first_event bigint, OUT last_event bigint, OUT at double precision,
    OUT closed_status text, OUT closed_reason text, OUT next_at double precision, OUT number integer
) LANGUAGE plpgsql SECURITY INVOKER
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    v_subject bytea := subject_of_run(p_run);
    v_now timestamptz;
    v_next timestamptz;
    v_finished boolean;
    v_opens boolean;
    v_fresh boolean;
    v_closed_tool text;
    v_closed_number integer;
    v_closed_kind text;
    v_tool text := p_tool;
    v_told integer := CASE WHEN p_status IS NULL THEN 0 ELSE 1 END;
    v_planned integer := 0;
    v_more integer := 0;
    v_names text[];
    v_messages text[];
    v_data jsonb[];
BEGIN
    -- The tenant, then the lock, in one expression: as a query it would cost four times as much.
    code := set_config('app.tenant', p_tenant::text, true) || subject_lock(p_tenant, 'run:' || p_run);
    SELECT CASE WHEN p_open IS NULL THEN 'ok'
                WHEN r.status <> 'running' AND NOT (p_kind = 'lookup' AND r.status IN ('succeeded', 'failed', 'cancelled')) THEN 'halted'
                WHEN p_stamp <> (SELECT t.stamp FROM tenants_tenant t WHERE t.id = p_tenant) THEN 'stale'
                ELSE 'ok' END,
           r.status, r.status IN ('succeeded', 'failed', 'cancelled'), clock_timestamp(), p_status, p_reason,
           (SELECT e.seq FROM tenants_event e WHERE e.tenant_id = p_tenant AND e.subject = v_subject ORDER BY e.seq DESC LIMIT 1)
      INTO code, journal_boundary.status, v_finished, v_now, closed_status, closed_reason, last_event
      FROM runs_lease l JOIN runs_run r ON r.tenant_id = l.tenant_id AND r.id = l.run_id
     WHERE l.tenant_id = p_tenant AND l.run_id = p_run AND l.fence = p_fence AND l.until > clock_timestamp();
    IF code IS NULL THEN
        code := 'lost';
        RETURN;
    END IF;
    at := date_part('epoch', v_now);
    v_opens := p_open IS NOT NULL AND code = 'ok';
    v_fresh := v_opens AND p_open = p_new;

    IF p_close IS NOT NULL THEN
        IF p_delay IS NOT NULL OR p_due_at IS NOT NULL THEN
            v_next := CASE WHEN p_delay IS NULL THEN p_due_at ELSE v_now + make_interval(secs => p_delay) END;
            next_at := date_part('epoch', v_next);
        END IF;
        IF v_finished AND p_status = 'started' THEN
            SELECT 'cancelled', CASE WHEN s.kind <> 'tool_call' OR s.effect = 'read' THEN 'failed'
                                     WHEN p_not_done THEN 'declined' ELSE 'unknown' END
              INTO closed_reason, closed_status
              FROM runs_step s WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.seq = p_close;
        END IF;
        UPDATE runs_step s
           SET status = coalesce(closed_status, s.status), reason = closed_reason, due_at = v_next,
               result = coalesce(p_result, s.result), payloads = coalesce(p_payloads, s.payloads),
               unknown_since = CASE WHEN closed_status = 'unknown' THEN v_now END,
               tokens_in = p_tokens_in, tokens_out = p_tokens_out, cost = p_cost, tokens_total = p_tokens_total,
               cost_total = p_cost_total,
               last_closed_at = v_now, last_cause = p_cause, last_message = p_message, last_not_done = p_not_done,
               last_next_at = v_next
         WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.seq = p_close
           AND s.last_opened_at IS NOT NULL AND s.last_closed_at IS NULL
     RETURNING s.tool, s.attempts, s.kind INTO v_closed_tool, v_closed_number, v_closed_kind;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'step % of run % has no open attempt', p_close, p_run USING ERRCODE = 'VM001';
        END IF;
        IF closed_status = 'unknown' THEN
            UPDATE runs_run r SET unsettled = true WHERE r.tenant_id = p_tenant AND r.id = p_run;
        ELSIF v_closed_kind = 'compaction' AND closed_status = 'completed' THEN
            UPDATE runs_run r SET compacted = p_close WHERE r.tenant_id = p_tenant AND r.id = p_run;
        END IF;
        IF p_tokens_in IS NOT NULL AND p_tokens_total IS NULL THEN  -- A worker of the release before.
            PERFORM journal_usage(p_tenant, p_run, p_close, p_tokens_in, p_tokens_out, p_cost);
        END IF;
    END IF;

    IF p_new IS NOT NULL AND (v_opens OR p_new_kind = 'tool_call') THEN
        v_planned := 1;
        INSERT INTO runs_step (tenant_id, run_id, seq, kind, status, reason, turn, tool, effect, call_id, digest,
                               generation, attempts, spent, proposed, arguments, rationale, payloads,
                               last_kind, last_fence, last_key, last_opened_at)
        VALUES (p_tenant, p_run, p_new, p_new_kind, CASE WHEN v_fresh THEN 'started' ELSE 'planned' END, '', p_turn, p_tool,
                p_effect, p_call_id, p_new_digest, 0, v_fresh::integer, 0, p_proposed, p_new_arguments, p_rationale,
                p_new_payloads, CASE WHEN v_fresh THEN p_kind END, CASE WHEN v_fresh THEN p_fence END,
                CASE WHEN v_fresh THEN p_key END, CASE WHEN v_fresh THEN v_now END);
    END IF;
    IF p_more IS NOT NULL THEN
        SELECT m.names, m.messages, m.data INTO v_names, v_messages, v_data FROM journal_plan_more(p_tenant, p_run, p_more) m;
    END IF;
    IF v_finished AND p_new_kind = 'tool_call' THEN
        SELECT v_names || m.names, v_messages || m.messages, v_data || m.data
          INTO v_names, v_messages, v_data FROM journal_decline_planned(p_tenant, p_run) m;
    END IF;

    IF v_opens THEN
        IF v_fresh THEN
            number := 1;
        ELSE
            INSERT INTO runs_formerattempt (tenant_id, run_id, seq, number, kind, fence, key, opened_at, closed_at, cause,
                                            message, not_done, next_at)
            SELECT s.tenant_id, s.run_id, s.seq, s.attempts, s.last_kind, s.last_fence, s.last_key, s.last_opened_at,
                   s.last_closed_at, s.last_cause, s.last_message, s.last_not_done, s.last_next_at
              FROM runs_step s
             WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.seq = p_open AND s.last_closed_at IS NOT NULL;
            UPDATE runs_step s
               SET status = CASE WHEN p_kind = 'call' THEN 'started' ELSE s.status END, attempts = s.attempts + 1, due_at = NULL,
                   arguments = coalesce(p_arguments, s.arguments), digest = coalesce(p_digest, s.digest),
                   last_kind = p_kind, last_fence = p_fence, last_key = p_key, last_opened_at = v_now, last_closed_at = NULL,
                   last_cause = NULL, last_message = NULL, last_not_done = NULL, last_next_at = NULL
             WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.seq = p_open
         RETURNING s.tool, s.attempts INTO v_tool, number;
        END IF;
    END IF;

    -- The events, in their order: what was closed, what was planned (further plans in between), what was opened.
    first_event := last_event + 1;
    IF v_names IS NOT NULL THEN
        v_more := cardinality(v_names);
        INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
        SELECT p_tenant, v_subject, last_event + v_told + v_planned + x.n, x.name, v_now, p_actor, x.message, x.data
          FROM unnest(v_names, v_messages, v_data) WITH ORDINALITY AS x(name, message, data, n);
    END IF;
    INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
    SELECT p_tenant, v_subject, last_event + e.place, e.name, v_now, p_actor, e.message, e.data
      FROM (VALUES
           (p_status IS NOT NULL, 1, 'step.' || CASE closed_status WHEN 'started' THEN 'retrying' ELSE closed_status END, p_note,
            journal_fact(p_close, v_closed_tool, v_closed_number, closed_reason, p_cause, v_next)),
           (v_planned = 1, v_told + 1, 'step.planned', p_new_note,
            jsonb_build_object('step', p_new, 'kind', p_new_kind, 'tool', p_tool)),
           (v_opens, v_told + v_planned + v_more + 1,
            CASE WHEN p_kind = 'call' THEN 'step.started' ELSE 'step.progress' END, p_open_note,
            jsonb_build_object('step', p_open, 'tool', v_tool, 'attempt', number, 'kind', p_kind)))
        AS e(told, place, name, message, data)
     WHERE e.told;
    GET DIAGNOSTICS v_told = ROW_COUNT;
    last_event := last_event + v_more + v_told;
    PERFORM events_appended(p_tenant, v_subject, first_event, last_event);
END $$;
