-- Further steps of a turn that asked for several; those with `declined` end at once. The lock is held.
CREATE FUNCTION journal_plan_more(
    p_tenant uuid, p_run uuid, p_more json, OUT names text[], OUT messages text[], OUT data jsonb[]
) LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    INSERT INTO runs_step (tenant_id, run_id, seq, kind, status, reason, turn, tool, effect, call_id, digest,
                           generation, attempts, spent, proposed, arguments, rationale, result, payloads)
    SELECT p_tenant, p_run, p.seq, 'tool_call', 'planned', '', p.turn, p.tool, p.effect, p.call_id, p.digest,
           0, 0, 0, p.proposed, p.arguments, p.rationale, p.result, p.payloads
      FROM json_to_recordset(p_more) AS p(seq bigint, turn bigint, tool text, effect text, call_id text, digest text,
           proposed text, arguments text, rationale text, result text, payloads jsonb);
    UPDATE runs_step s SET status = 'declined', reason = p.declined
      FROM json_to_recordset(p_more) AS p(seq bigint, declined text)
     WHERE p.declined <> '' AND s.tenant_id = p_tenant AND s.run_id = p_run AND s.seq = p.seq;
    SELECT array_agg(e.name ORDER BY p.seq, e.rank), array_agg(e.message ORDER BY p.seq, e.rank),
           array_agg(e.data ORDER BY p.seq, e.rank)
      INTO names, messages, journal_plan_more.data
      FROM json_to_recordset(p_more) AS p(seq bigint, tool text, message text, declined text)
     CROSS JOIN LATERAL (VALUES
           (1, 'step.planned', p.message, jsonb_build_object('step', p.seq, 'kind', 'tool_call', 'tool', p.tool)),
           (2, 'step.declined', '', journal_fact(p.seq, p.tool, NULL, p.declined, '', NULL))) AS e(rank, name, message, data)
     WHERE e.rank = 1 OR p.declined <> '';
END $$;

-- What a turn asked for that was answered after its run had finished: planned for the record, and ended at once.
CREATE FUNCTION journal_decline_planned(
    p_tenant uuid, p_run uuid, OUT names text[], OUT messages text[], OUT data jsonb[]
) LANGUAGE sql SECURITY INVOKER AS $$
    WITH ended AS (
        UPDATE runs_step s SET status = 'declined', reason = 'cancelled'
         WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.status = 'planned' AND s.kind = 'tool_call'
     RETURNING s.seq, s.tool)
    SELECT array_agg('step.declined'::text ORDER BY seq), array_agg(''::text ORDER BY seq),
           array_agg(journal_fact(seq, tool, NULL, 'cancelled', '', NULL) ORDER BY seq)
      FROM ended
$$;

-- What a turn took, and what the run has used up to and with it.
CREATE FUNCTION journal_usage(p_tenant uuid, p_run uuid, p_seq bigint, p_in bigint, p_out bigint, p_cost numeric) RETURNS void
LANGUAGE sql SECURITY INVOKER AS $$
    UPDATE runs_step s
       SET tokens_in = p_in, tokens_out = p_out, cost = p_cost,
           tokens_total = coalesce(before.tokens, 0) + p_in + p_out,
           cost_total = coalesce(before.cost, 0) + coalesce(p_cost, 0)
      FROM (SELECT 1) AS one
      LEFT JOIN LATERAL (
           SELECT b.tokens_total AS tokens, b.cost_total AS cost FROM runs_step b
            WHERE b.tenant_id = p_tenant AND b.run_id = p_run AND b.seq < p_seq AND b.tokens_total IS NOT NULL
            ORDER BY b.seq DESC LIMIT 1) AS before ON true
     WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.seq = p_seq
$$;

-- End a step without calling it: `declined` with what the model reads. Only a planned one, or one between attempts of
-- which the last is known as not done. With p_fence it is a holder's. It answers what stood in the way.
CREATE FUNCTION journal_decline(
    p_tenant uuid, p_run uuid, p_fence bigint, p_seq bigint, p_reason text, p_text text, p_actor jsonb, p_message text,
    OUT code text, OUT last_event bigint
) LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_status text;
    v_tool text;
    v_open boolean;
    v_not_done boolean;
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true), subject_lock(p_tenant, 'run:' || p_run);
    IF p_fence IS NOT NULL AND NOT EXISTS (
        SELECT FROM runs_lease l
         WHERE l.tenant_id = p_tenant AND l.run_id = p_run AND l.fence = p_fence AND l.until > clock_timestamp()) THEN
        code := 'lost';
        RETURN;
    END IF;
    SELECT s.status, s.tool, a.number IS NOT NULL AND a.closed_at IS NULL, a.not_done
      INTO v_status, v_tool, v_open, v_not_done
      FROM runs_step s
      LEFT JOIN runs_attempt a
        ON a.tenant_id = s.tenant_id AND a.run_id = s.run_id AND a.seq = s.seq AND a.number = s.attempts
     WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.seq = p_seq AND s.kind = 'tool_call';
    code := CASE WHEN v_status IS NULL THEN 'unknown_step' WHEN v_open THEN 'in_hand'
                 WHEN v_status = 'planned' OR v_status = 'started' AND v_not_done THEN 'ok' ELSE v_status END;
    IF code <> 'ok' THEN
        RETURN;
    END IF;
    UPDATE runs_step s SET status = 'declined', reason = p_reason, result = p_text, due_at = NULL
     WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.seq = p_seq;
    last_event := event_append(p_tenant, 'run:' || p_run, 'step.declined', p_actor, p_message,
                               journal_fact(p_seq, v_tool, NULL, p_reason, '', NULL));
END $$;

-- A person says what became of an unknown outcome. `do_again` plans the step anew under a higher generation.
CREATE FUNCTION journal_settle(
    p_tenant uuid, p_run uuid, p_seq bigint, p_outcome text, p_text text, p_actor jsonb, p_message text,
    OUT code text, OUT last_event bigint
) LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_tool text;
BEGIN
    UPDATE runs_step s
       SET status = CASE p_outcome WHEN 'do_again' THEN 'planned' ELSE p_outcome END, reason = '',
           generation = s.generation + CASE p_outcome WHEN 'do_again' THEN 1 ELSE 0 END,
           result = p_text, unknown_since = NULL, due_at = NULL
     WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.seq = p_seq AND s.status = 'unknown'
       AND NOT EXISTS (
           SELECT FROM runs_attempt a
            WHERE a.tenant_id = p_tenant AND a.run_id = p_run AND a.seq = p_seq AND a.closed_at IS NULL)
 RETURNING s.tool INTO v_tool;
    code := CASE WHEN FOUND THEN 'ok' ELSE 'not_unknown' END;
    IF FOUND THEN
        UPDATE runs_run r
           SET unsettled = EXISTS (SELECT FROM runs_step s WHERE s.tenant_id = p_tenant AND s.run_id = p_run
                                                             AND s.unknown_since IS NOT NULL)
         WHERE r.tenant_id = p_tenant AND r.id = p_run;
        last_event := event_append(p_tenant, 'run:' || p_run, 'step.settled', p_actor, p_message,
                                   jsonb_build_object('step', p_seq, 'tool', v_tool, 'outcome', p_outcome));
    END IF;
END $$;
