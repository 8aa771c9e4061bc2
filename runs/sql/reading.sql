-- The run as the journal begins with it, and where its steps are to be read from: the last completed compaction.
CREATE FUNCTION journal_read_run(
    p_tenant uuid, p_run uuid,
    OUT agent text, OUT version text, OUT title text, OUT status text, OUT reason text, OUT labels text, OUT initiators uuid[],
    OUT started_by text, OUT budget text, OUT deadline timestamptz, OUT created_at timestamptz, OUT input text,
    OUT worked double precision, OUT last_event bigint, OUT last_seq bigint, OUT from_seq bigint
) LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true);
    SELECT r.agent, r.version, r.title, r.status, r.reason, r.labels::text, r.initiators, r.started_by::text, r.budget::text,
           r.deadline, r.created_at, t.body, l.worked,
           (SELECT coalesce(max(e.seq), 0) FROM tenants_event e WHERE e.tenant_id = p_tenant AND e.subject = subject_of_run(p_run)),
           (SELECT coalesce(max(s.seq), 0) FROM runs_step s WHERE s.tenant_id = p_tenant AND s.run_id = p_run),
           greatest(r.compacted, 1)
      INTO journal_read_run.agent, journal_read_run.version, journal_read_run.title, journal_read_run.status,
           journal_read_run.reason, journal_read_run.labels, journal_read_run.initiators, journal_read_run.started_by,
           journal_read_run.budget, journal_read_run.deadline, journal_read_run.created_at, journal_read_run.input,
           journal_read_run.worked, last_event, last_seq, from_seq
      FROM runs_run r
      JOIN runs_lease l ON l.tenant_id = r.tenant_id AND l.run_id = r.id
      LEFT JOIN runs_text t ON t.tenant_id = r.tenant_id AND t.run_id = r.id AND t.seq = 0 AND t.name = 'input'
     WHERE r.tenant_id = p_tenant AND r.id = p_run;
END $$;

-- The steps from this one on; without a number from the last completed compaction.
CREATE FUNCTION journal_read_steps(p_tenant uuid, p_run uuid, p_from bigint) RETURNS TABLE (
    seq bigint, kind text, status text, reason text, turn bigint, tool text, effect text, call_id text, digest text,
    generation integer, tries integer, due_at timestamptz, tokens_in bigint, tokens_out bigint, cost numeric,
    tokens_total bigint, cost_total numeric, proposed text, arguments text, rationale text, result text, payloads text,
    spent integer
) LANGUAGE plpgsql SECURITY INVOKER ROWS 100 SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    v_from bigint := p_from;
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true);
    -- A number by then: below row security a condition on an expression such as coalesce() reads every step.
    IF p_from IS NULL THEN
        SELECT greatest(r.compacted, 1) INTO v_from FROM runs_run r WHERE r.tenant_id = p_tenant AND r.id = p_run;
    END IF;
    RETURN QUERY
    SELECT s.seq, s.kind, s.status, s.reason, s.turn, s.tool, s.effect, s.call_id, s.digest, s.generation, s.attempts,
           s.due_at, s.tokens_in, s.tokens_out, s.cost, s.tokens_total, s.cost_total, s.proposed, s.arguments, s.rationale,
           s.result, s.payloads::text, s.spent
      FROM runs_step s
     WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.seq >= v_from
     ORDER BY s.seq;
END $$;

-- The attempts of steps that have not ended.
CREATE FUNCTION journal_read_attempts(p_tenant uuid, p_run uuid, p_seqs bigint[]) RETURNS TABLE (
    seq bigint, number integer, kind text, fence bigint, key text, opened_at timestamptz, closed_at timestamptz, cause text,
    message text, not_done boolean, next_at timestamptz
) LANGUAGE plpgsql SECURITY INVOKER ROWS 10 AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true);
    RETURN QUERY
    SELECT a.seq, a.number, a.kind, a.fence, a.key, a.opened_at, a.closed_at, a.cause, a.message, a.not_done, a.next_at
      FROM runs_attempt a
     WHERE a.tenant_id = p_tenant AND a.run_id = p_run AND a.seq = ANY (p_seqs)
     ORDER BY a.seq, a.number;
END $$;
