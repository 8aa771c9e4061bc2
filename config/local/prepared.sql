SET LOCAL check_function_bodies = false;
SET LOCAL search_path = '';

CREATE FUNCTION public.app_tenant() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('app.tenant', true), '')::uuid $$;

CREATE FUNCTION public.append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  allowed text := TG_ARGV[0];
  by_owner boolean := (SELECT pg_get_userbyid(relowner) = current_user FROM pg_class WHERE oid = TG_RELID);
BEGIN
  IF by_owner AND TG_OP = 'DELETE' AND allowed = 'purge' THEN
    RETURN OLD;
  END IF;
  IF by_owner AND TG_OP = 'UPDATE' AND to_jsonb(NEW) -> allowed = 'null'
     AND to_jsonb(NEW) - allowed = to_jsonb(OLD) - allowed THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION public.audit_append(p_tenant uuid, p_seq bigint, p_at timestamp with time zone, p_actor_kind text, p_actor_id text, p_action text, p_target text, p_refused boolean, p_channel text, p_content_digest text, p_previous text, p_digest text, p_signature text, p_body text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE tenants_audithead h SET seq = p_seq, digest = p_digest, signature = p_signature
   WHERE h.tenant_id = p_tenant AND h.seq = p_seq - 1 AND h.digest = p_previous;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the audit of tenant % has gone on', p_tenant USING ERRCODE = 'serialization_failure';
  END IF;
  INSERT INTO tenants_auditentry (tenant_id, seq, at, actor_kind, actor_id, action, target, refused, channel,
                                  content_digest, previous, digest, signature)
  VALUES (p_tenant, p_seq, p_at, p_actor_kind, p_actor_id, p_action, subject_bytes(p_target), p_refused, p_channel,
          decode(p_content_digest, 'hex'), decode(p_previous, 'hex'), decode(p_digest, 'hex'),
          decode(p_signature, 'base64'));
  INSERT INTO tenants_auditcontent (tenant_id, seq, body) VALUES (p_tenant, p_seq, p_body);
END $$;

CREATE FUNCTION public.audit_blank(p_tenant uuid, p_before timestamp with time zone) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  WITH blanked AS (
    UPDATE public.tenants_auditcontent c SET body = NULL FROM public.tenants_auditentry e
    WHERE p_tenant = public.app_tenant() AND c.tenant_id = p_tenant AND e.tenant_id = p_tenant AND e.seq = c.seq
      AND e.at < p_before AND c.body IS NOT NULL
    RETURNING 1
  ) SELECT count(*) FROM blanked
$$;

CREATE FUNCTION public.count_all() RETURNS TABLE(name text, value bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  WITH unfinished AS (
    SELECT status, due_at FROM public.runs_run WHERE NOT status IN ('cancelled', 'failed', 'succeeded')
  ), pending AS (
    SELECT due_at FROM public.approvals_approvalrequest WHERE status = 'pending'
  ), leaving AS (
    SELECT due_at FROM public.approvals_delivery WHERE status IN ('pending', 'sending')
  ), waits (what, n, since) AS (
    SELECT 'runs', count(*), min(due_at) FROM unfinished WHERE due_at <= now()
    UNION ALL SELECT 'approval_requests', count(*), min(due_at) FROM pending WHERE due_at <= now()
    UNION ALL SELECT 'deliveries', count(*), min(due_at) FROM leaving WHERE due_at <= now()
  )
  SELECT 'runs_' || status, count(*) FROM unfinished GROUP BY status
  UNION ALL SELECT 'approval_requests_pending', count(*) FROM pending
  UNION ALL SELECT 'deliveries_pending', count(*) FROM leaving
  UNION ALL SELECT 'steps_unknown', count(*) FROM public.runs_step WHERE unknown_since IS NOT NULL
  UNION ALL SELECT 'leases_held', count(*) FROM public.runs_lease WHERE until > now()
  UNION ALL SELECT what || '_overdue', n FROM waits
  UNION ALL SELECT what || '_overdue_seconds', coalesce(extract(epoch FROM now() - since), 0)::bigint FROM waits
$$;

CREATE FUNCTION public.count_given_up() RETURNS TABLE(name text, value bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  SELECT 'deliveries_given_up_' || transport, count(*) FROM public.approvals_delivery
  WHERE status = 'given_up' AND attempts > 0 AND NOT error = 'no longer needed'
    AND created_at > now() - interval '24 hours'
  GROUP BY transport
$$;

CREATE FUNCTION public.delivery_states() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE before text := CASE TG_OP WHEN 'INSERT' THEN '' ELSE OLD.status END;
BEGIN
  IF TG_OP = 'UPDATE' AND before = NEW.status THEN RETURN NEW; END IF;
  IF NOT (before || '>' || NEW.status = ANY (ARRAY['>pending', 'pending>given_up', 'pending>sending', 'sending>given_up', 'sending>pending', 'sending>sent'])) THEN
    RAISE EXCEPTION 'approvals_delivery: % to % is not allowed', coalesce(nullif(before, ''), 'nothing'), NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION public.due_answers(n integer, since interval) RETURNS TABLE(tenant uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'public'
    AS $_$
    SELECT DISTINCT r.tenant_id, r.id
      FROM public.approvals_approvalrequest q
      JOIN public.runs_run r
        ON r.tenant_id = q.tenant_id
       AND r.id = CASE WHEN q.subject LIKE 'run:%' THEN substr(q.subject, 5)::uuid END
      JOIN public.runs_step s
        ON s.tenant_id = r.tenant_id AND s.run_id = r.id AND s.seq = CASE WHEN q.ref ~ '^\d+$' THEN q.ref::bigint END
     WHERE q.decided_at > now() - since AND q.status <> 'superseded'
       AND (r.status = 'waiting_approval' OR r.status = 'needs_attention' AND r.reason = 'unknown_outcome')
       AND s.status = 'planned' AND (s.due_at IS NULL OR s.due_at <= now())
       AND NOT EXISTS (
           SELECT FROM public.approvals_approvalrequest p
            WHERE p.tenant_id = q.tenant_id AND p.subject = q.subject AND p.ref = q.ref AND p.opened_at > q.opened_at)
     LIMIT n
$_$;

CREATE FUNCTION public.due_deadlines(n integer) RETURNS TABLE(tenant uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'public'
    AS $$
    SELECT r.tenant_id, r.id
      FROM public.tenants_tenant t
     CROSS JOIN LATERAL (
           SELECT y.tenant_id, y.id, y.deadline FROM public.runs_run y
            WHERE y.tenant_id = t.id AND y.deadline <= now() AND y.status NOT IN ('cancelled', 'failed', 'succeeded')
            ORDER BY y.deadline LIMIT n) AS r
     ORDER BY r.deadline LIMIT n
$$;

CREATE FUNCTION public.due_deliveries(n integer) RETURNS TABLE(tenant uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  SELECT d.tenant_id, d.id FROM public.approvals_delivery d
  WHERE d.status IN ('pending', 'sending') AND d.due_at <= now() AND d.transport = 'email' ORDER BY d.due_at LIMIT n
$$;

CREATE FUNCTION public.due_leases(n integer) RETURNS TABLE(tenant uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'public'
    AS $$
    SELECT l.tenant_id, l.run_id
      FROM public.tenants_tenant t
     CROSS JOIN LATERAL (
           SELECT y.tenant_id, y.run_id, y.until
             FROM public.runs_lease y
             JOIN public.runs_run r ON r.tenant_id = y.tenant_id AND r.id = y.run_id
            WHERE y.tenant_id = t.id AND y.until <= now() AND r.status IN ('running', 'cancelled', 'failed', 'succeeded')
            ORDER BY y.until LIMIT n) AS l
     ORDER BY l.until LIMIT n
$$;

CREATE FUNCTION public.due_messages(n integer, kinds text[]) RETURNS TABLE(tenant uuid, id uuid, lane text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  WITH RECURSIVE ways(channel) AS (
    (SELECT d.channel_id FROM public.approvals_delivery d
      WHERE d.status IN ('pending', 'sending') AND d.channel_id IS NOT NULL ORDER BY d.channel_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.channel_id FROM public.approvals_delivery d
             WHERE d.status IN ('pending', 'sending') AND d.channel_id > ways.channel ORDER BY d.channel_id LIMIT 1)
      FROM ways WHERE ways.channel IS NOT NULL
  ), found AS (
    SELECT x.*, row_number() OVER (PARTITION BY x.lane ORDER BY x.due_at) AS turn FROM (
      SELECT each.tenant_id, each.id, each.due_at, ways.channel::text AS lane
        FROM ways CROSS JOIN LATERAL (
             SELECT d.tenant_id, d.id, d.due_at FROM public.approvals_delivery d
              WHERE d.status IN ('pending', 'sending') AND d.channel_id = ways.channel
                AND d.due_at <= statement_timestamp() AND (d.transport = 'webhook' OR d.kind = ANY (kinds))
              ORDER BY d.due_at LIMIT greatest(n / 5, 1)) AS each
      UNION ALL
      (SELECT d.tenant_id, d.id, d.due_at, d.transport FROM public.approvals_delivery d
        WHERE d.status IN ('pending', 'sending') AND d.channel_id IS NULL AND d.due_at <= statement_timestamp()
          AND (d.transport = 'webhook' OR d.kind = ANY (kinds))
        ORDER BY d.due_at LIMIT n)
    ) AS x
  )
  SELECT tenant_id, id, lane FROM found ORDER BY turn, due_at LIMIT n
$$;

CREATE FUNCTION public.due_parcels(n integer) RETURNS TABLE(tenant uuid, id uuid, lane text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  SELECT m.tenant, m.id, m.lane FROM public.due_messages(n, ARRAY[
    'asked', 'asked_again', 'closing_soon', 'vote_lapsed', 'ended', 'nobody_left', 'not_evaluable', 'channel_off', 'test',
    'decided']) m
$$;

CREATE FUNCTION public.due_requests(n integer) RETURNS TABLE(tenant uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  SELECT found.tenant_id, found.id
    FROM public.tenants_tenant t
   CROSS JOIN LATERAL (
         SELECT x.tenant_id, x.id, x.due_at, row_number() OVER (ORDER BY x.due_at) AS turn
           FROM ((SELECT r.tenant_id, r.id, r.due_at FROM public.approvals_approvalrequest r
                   WHERE r.tenant_id = t.id AND r.status = 'pending' AND r.due_at <= statement_timestamp()
                   ORDER BY r.due_at LIMIT n)
                 UNION
                 (SELECT r.tenant_id, r.id, r.due_at FROM public.approvals_approvalrequest r
                   WHERE r.tenant_id = t.id AND r.status = 'pending' AND r.asked_stamp < t.stamp LIMIT n)) AS x) AS found
   ORDER BY found.turn, found.due_at LIMIT n
$$;

CREATE FUNCTION public.due_runs(n integer) RETURNS TABLE(tenant uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'pg_catalog', 'public'
    AS $$
    SELECT r.tenant_id, r.id
      FROM public.tenants_tenant t
     CROSS JOIN LATERAL (
           SELECT x.tenant_id, x.id, x.due_at, row_number() OVER (ORDER BY x.due_at) AS turn
             FROM (SELECT y.tenant_id, y.id, y.due_at FROM public.runs_run y
                    WHERE y.tenant_id = t.id AND y.due_at <= now()
                    ORDER BY y.due_at LIMIT n) AS x) AS r
     ORDER BY r.turn, r.due_at LIMIT n
$$;

CREATE FUNCTION public.event_append(p_tenant uuid, p_subject text, p_name text, p_actor jsonb, p_message text, p_data jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
  v_subject bytea := subject_bytes(p_subject);
  v_seq bigint;
BEGIN
  INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
  SELECT p_tenant, v_subject,
    coalesce((SELECT max(e.seq) FROM tenants_event e WHERE e.tenant_id = p_tenant AND e.subject = v_subject), 0) + 1,
    p_name, clock_timestamp(), p_actor, p_message, p_data
  RETURNING seq INTO v_seq;
  PERFORM events_appended(p_tenant, v_subject, v_seq, v_seq);
  RETURN v_seq;
END $$;

CREATE FUNCTION public.events_appended(p_tenant uuid, p_subject bytea, p_first bigint, p_last bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM approvals_channel c WHERE c.tenant_id = p_tenant AND c.kind = 'webhook' AND c.enabled
  ) THEN
    RETURN;
  END IF;
  INSERT INTO approvals_delivery (
    id, tenant_id, request_id, channel_id, kind, key, transport, address, status, attempts, due_at, error, subject, seq
  )
  SELECT gen_random_uuid(), e.tenant_id,
    CASE WHEN e.name LIKE 'approval.%' THEN (e.data ->> 'request')::uuid END,
    c.id, e.name, 'event:' || subject_text(e.subject) || ':' || e.seq, 'webhook', c.id::text, 'pending', 0,
    clock_timestamp(), '', subject_text(e.subject), e.seq
  FROM tenants_event e
  JOIN approvals_channel c ON c.tenant_id = e.tenant_id
  WHERE e.tenant_id = p_tenant AND e.subject = p_subject AND e.seq BETWEEN p_first AND p_last
    AND c.kind = 'webhook' AND c.enabled AND c.archived_at IS NULL AND e.name = ANY (c.events)
  ON CONFLICT (tenant_id, key, transport, address) DO NOTHING;
END $$;

CREATE FUNCTION public.forget_answers(p_limit integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  WITH gone AS (
    DELETE FROM public.tenants_idempotentanswer WHERE id IN (
      SELECT id FROM public.tenants_idempotentanswer WHERE created_at < now() - interval '24 hours'
      ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) RETURNING 1
  ) SELECT count(*) FROM gone
$$;

CREATE FUNCTION public.forget_deliveries(p_limit integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  WITH gone AS (
    DELETE FROM public.approvals_delivery WHERE id IN (
      SELECT id FROM public.approvals_delivery
      WHERE request_id IS NULL AND status IN ('sent', 'given_up') AND created_at < now() - interval '30 days'
      ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) RETURNING 1
  ), used AS (
    DELETE FROM public.approvals_callbackseen WHERE id IN (
      SELECT id FROM public.approvals_callbackseen WHERE at < now() - interval '1 day'
      ORDER BY at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) RETURNING 1
  ) SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM used)
$$;

CREATE FUNCTION public.journal_boundary(p_tenant uuid, p_run uuid, p_fence bigint, p_actor jsonb, p_close bigint, p_status text, p_reason text, p_cause text, p_message text, p_not_done boolean, p_delay double precision, p_due_at timestamp with time zone, p_result text, p_payloads jsonb, p_tokens_in bigint, p_tokens_out bigint, p_cost numeric, p_note text, p_new bigint, p_new_kind text, p_turn bigint, p_tool text, p_effect text, p_call_id text, p_new_digest text, p_proposed text, p_new_arguments text, p_rationale text, p_new_payloads jsonb, p_new_note text, p_more json, p_open bigint, p_kind text, p_key text, p_stamp bigint, p_arguments text, p_digest text, p_open_note text, p_tokens_total bigint DEFAULT NULL::bigint, p_cost_total numeric DEFAULT NULL::numeric, OUT code text, OUT status text, OUT first_event bigint, OUT last_event bigint, OUT at double precision, OUT closed_status text, OUT closed_reason text, OUT next_at double precision, OUT number integer) RETURNS record
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
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

CREATE FUNCTION public.journal_check(p_tenant uuid, p_run uuid, p_fence bigint, OUT code text, OUT status text) RETURNS record
    LANGUAGE plpgsql
    AS $$
BEGIN
    SELECT r.status INTO journal_check.status
      FROM runs_lease l JOIN runs_run r ON r.tenant_id = l.tenant_id AND r.id = l.run_id
     WHERE l.tenant_id = p_tenant AND l.run_id = p_run AND l.fence = p_fence AND l.until > clock_timestamp();
    code := CASE WHEN journal_check.status IS NULL THEN 'lost' WHEN journal_check.status <> 'running' THEN 'halted' ELSE 'ok' END;
END $$;

CREATE FUNCTION public.journal_decline(p_tenant uuid, p_run uuid, p_fence bigint, p_seq bigint, p_reason text, p_text text, p_actor jsonb, p_message text, OUT code text, OUT last_event bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.journal_decline_planned(p_tenant uuid, p_run uuid, OUT names text[], OUT messages text[], OUT data jsonb[]) RETURNS record
    LANGUAGE sql
    AS $$
    WITH ended AS (
        UPDATE runs_step s SET status = 'declined', reason = 'cancelled'
         WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.status = 'planned' AND s.kind = 'tool_call'
     RETURNING s.seq, s.tool)
    SELECT array_agg('step.declined'::text ORDER BY seq), array_agg(''::text ORDER BY seq),
           array_agg(journal_fact(seq, tool, NULL, 'cancelled', '', NULL) ORDER BY seq)
      FROM ended
$$;

CREATE FUNCTION public.journal_end_step(p_tenant uuid, p_run uuid, p_seq bigint, p_actor jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.journal_end_steps(p_tenant uuid, p_run uuid, p_actor jsonb) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.journal_fact(p_step bigint, p_tool text, p_attempt integer, p_reason text, p_cause text, p_next_at timestamp with time zone) RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object(
        'step', p_step, 'tool', nullif(p_tool, ''), 'attempt', p_attempt, 'reason', nullif(p_reason, ''),
        'cause', nullif(p_cause, ''), 'next_at', p_next_at))
$$;

CREATE FUNCTION public.journal_held(p_tenant uuid, p_run uuid) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT coalesce((SELECT l.until > clock_timestamp() FROM runs_lease l WHERE l.tenant_id = p_tenant AND l.run_id = p_run), false)
$$;

CREATE FUNCTION public.journal_in_hand(p_tenant uuid, p_run uuid) RETURNS bigint[]
    LANGUAGE sql STABLE
    AS $$
    SELECT coalesce(array_agg(DISTINCT s.seq ORDER BY s.seq), '{}')
      FROM runs_step s
      JOIN runs_attempt a ON a.tenant_id = s.tenant_id AND a.run_id = s.run_id AND a.seq = s.seq AND a.number = s.attempts
     WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.status IN ('planned', 'started') AND a.closed_at IS NULL
$$;

CREATE FUNCTION public.journal_plan_more(p_tenant uuid, p_run uuid, p_more json, OUT names text[], OUT messages text[], OUT data jsonb[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.journal_progress(p_tenant uuid, p_run uuid, p_fence bigint, p_actor jsonb, p_message text, p_data jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true), subject_lock(p_tenant, 'run:' || p_run);
    IF (journal_check(p_tenant, p_run, p_fence)).code = 'lost' THEN
        RETURN NULL;
    END IF;
    RETURN event_append(p_tenant, 'run:' || p_run, 'step.progress', p_actor, p_message, p_data);
END $$;

CREATE FUNCTION public.journal_read_attempts(p_tenant uuid, p_run uuid, p_seqs bigint[]) RETURNS TABLE(seq bigint, number integer, kind text, fence bigint, key text, opened_at timestamp with time zone, closed_at timestamp with time zone, cause text, message text, not_done boolean, next_at timestamp with time zone)
    LANGUAGE plpgsql ROWS 10
    AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true);
    RETURN QUERY
    SELECT a.seq, a.number, a.kind, a.fence, a.key, a.opened_at, a.closed_at, a.cause, a.message, a.not_done, a.next_at
      FROM runs_attempt a
     WHERE a.tenant_id = p_tenant AND a.run_id = p_run AND a.seq = ANY (p_seqs)
     ORDER BY a.seq, a.number;
END $$;

CREATE FUNCTION public.journal_read_run(p_tenant uuid, p_run uuid, OUT agent text, OUT version text, OUT title text, OUT status text, OUT reason text, OUT labels text, OUT initiators uuid[], OUT started_by text, OUT budget text, OUT deadline timestamp with time zone, OUT created_at timestamp with time zone, OUT input text, OUT worked double precision, OUT last_event bigint, OUT last_seq bigint, OUT from_seq bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.journal_read_steps(p_tenant uuid, p_run uuid, p_from bigint) RETURNS TABLE(seq bigint, kind text, status text, reason text, turn bigint, tool text, effect text, call_id text, digest text, generation integer, tries integer, due_at timestamp with time zone, tokens_in bigint, tokens_out bigint, cost numeric, tokens_total bigint, cost_total numeric, proposed text, arguments text, rationale text, result text, payloads text, spent integer)
    LANGUAGE plpgsql ROWS 100
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
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

CREATE FUNCTION public.journal_recover(p_tenant uuid, p_run uuid, p_limit integer, p_actor jsonb) RETURNS text
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.journal_settle(p_tenant uuid, p_run uuid, p_seq bigint, p_outcome text, p_text text, p_actor jsonb, p_message text, OUT code text, OUT last_event bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.journal_stop(p_tenant uuid, p_run uuid, p_fence bigint, p_status text, p_reason text, p_actor jsonb, p_event text, p_message text, p_data jsonb, p_result text, OUT code text, OUT status text, OUT last_event bigint) RETURNS record
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
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

CREATE FUNCTION public.journal_usage(p_tenant uuid, p_run uuid, p_seq bigint, p_in bigint, p_out bigint, p_cost numeric) RETURNS void
    LANGUAGE sql
    AS $$
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

CREATE FUNCTION public.lease_acquire(p_tenant uuid, p_run uuid, p_worker text, p_seconds double precision, p_knows text[], p_actor jsonb, OUT code text, OUT fence bigint, OUT agent text, OUT version text, OUT last_event bigint) RETURNS record
    LANGUAGE sql
    AS $$
    SELECT t.code, t.fence, t.agent, t.version, t.started FROM run_take(p_tenant, p_run, p_worker, p_seconds, p_knows, p_actor) t
$$;

CREATE FUNCTION public.lease_end(p_tenant uuid, p_run uuid, p_fence bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE runs_lease l
       SET until = NULL, holder = '', since = NULL,
           worked = l.worked + coalesce(extract(epoch FROM least(clock_timestamp(), l.until) - l.since), 0)
     WHERE l.tenant_id = p_tenant AND l.run_id = p_run AND l.fence = p_fence AND l.until IS NOT NULL;
    RETURN FOUND;
END $$;

CREATE FUNCTION public.lease_halts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF OLD.status = 'running' AND NEW.status <> 'running' THEN
        UPDATE runs_lease l SET stopped = true, halted = true
         WHERE l.tenant_id = NEW.tenant_id AND l.run_id = NEW.id AND l.until IS NOT NULL;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION public.lease_heard() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.lease_keep(p_tenant uuid, p_runs uuid[], p_fences bigint[], p_seconds double precision) RETURNS TABLE(run uuid, renewed boolean)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.lease_release(p_tenant uuid, p_run uuid, p_fence bigint) RETURNS text
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true), subject_lock(p_tenant, 'run:' || p_run);
    IF NOT lease_end(p_tenant, p_run, p_fence) THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT r.status FROM runs_run r WHERE r.tenant_id = p_tenant AND r.id = p_run);
END $$;

CREATE FUNCTION public.lease_renew(p_tenant uuid, p_runs uuid[], p_fences bigint[], p_seconds double precision) RETURNS TABLE(run uuid)
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM set_config('app.tenant', p_tenant::text, true);
    PERFORM FROM runs_lease l WHERE l.tenant_id = p_tenant AND l.run_id = ANY (p_runs) ORDER BY l.run_id FOR UPDATE;
    RETURN QUERY
    UPDATE runs_lease l SET until = clock_timestamp() + make_interval(secs => p_seconds)
      FROM unnest(p_runs, p_fences) AS mine(run, fence)
     WHERE l.tenant_id = p_tenant AND l.run_id = mine.run AND l.fence = mine.fence AND l.until > clock_timestamp()
 RETURNING l.run_id;
END $$;

CREATE FUNCTION public.memberships(p_person uuid) RETURNS TABLE(tenant uuid, slug text, tenant_name text, stamp bigint, member uuid, roles text[])
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  SELECT t.id, t.slug, t.name, t.stamp, m.id, m.roles::text[]
  FROM public.tenants_member m JOIN public.tenants_tenant t ON t.id = m.tenant_id
  WHERE m.person_id = p_person AND m.active
  ORDER BY t.slug
$$;

CREATE FUNCTION public.person_switched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE tenants_tenant t SET stamp = t.stamp + 1 FROM memberships(NEW.id) m WHERE t.id = m.tenant;
  RETURN NULL;
END $$;

CREATE FUNCTION public.purge(p_tenant uuid, p_limit integer) RETURNS TABLE(purged uuid, locations text[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
DECLARE
  old uuid[];
  doomed uuid[];
  subjects text[];
  questions uuid[];
  targets text[];
BEGIN
  IF p_tenant IS DISTINCT FROM app_tenant() THEN
    RAISE EXCEPTION 'only the tenant in scope is purged' USING ERRCODE = 'insufficient_privilege';
  END IF;
  -- A run that somebody writes to just now, retries or comments on, or whose last call is still in hand, is left for
  -- another time. Its subject first, as everybody locks it, and without waiting: a transaction else holds only one.
  old := ARRAY(
    SELECT r.id FROM runs_run r JOIN tenants_tenant t ON t.id = r.tenant_id
    WHERE r.tenant_id = p_tenant AND r.finished_at < now() - make_interval(days => t.retention_days)
      AND NOT EXISTS (
        SELECT FROM runs_lease l WHERE l.tenant_id = p_tenant AND l.run_id = r.id AND l.until > now()
      )
    ORDER BY r.finished_at LIMIT p_limit
  );
  old := ARRAY(SELECT o FROM unnest(old) o WHERE pg_try_advisory_xact_lock(subject_key(p_tenant, 'run:' || o)));
  SELECT array_agg(d.id) INTO doomed FROM (
    SELECT r.id FROM runs_run r JOIN tenants_tenant t ON t.id = r.tenant_id
    WHERE r.tenant_id = p_tenant AND r.id = ANY (old) AND r.finished_at < now() - make_interval(days => t.retention_days)
      AND NOT EXISTS (
        SELECT FROM runs_lease l WHERE l.tenant_id = p_tenant AND l.run_id = r.id AND l.until > now()
      )
    FOR UPDATE OF r SKIP LOCKED
  ) d;
  IF doomed IS NULL THEN
    RETURN;
  END IF;
  subjects := ARRAY(SELECT 'run:' || d FROM unnest(doomed) d);
  questions := ARRAY(
    SELECT q.id FROM approvals_approvalrequest q WHERE q.tenant_id = p_tenant AND q.subject = ANY (subjects)
  );
  targets := subjects || ARRAY(SELECT 'request:' || q FROM unnest(questions) q);
  RETURN QUERY
    SELECT d, ARRAY(SELECT p.location FROM runs_payload p WHERE p.tenant_id = p_tenant AND p.run_id = d)
    FROM unnest(doomed) d;

  DELETE FROM approvals_delivery x WHERE x.tenant_id = p_tenant AND x.request_id = ANY (questions);
  -- What tells of an unknown outcome, or an event to a webhook, is of no request.
  DELETE FROM approvals_delivery x WHERE x.tenant_id = p_tenant AND x.subject <> '' AND x.subject = ANY (subjects);
  DELETE FROM approvals_requestcomment x WHERE x.tenant_id = p_tenant AND x.request_id = ANY (questions);
  DELETE FROM approvals_viewing x WHERE x.tenant_id = p_tenant AND x.request_id = ANY (questions);
  DELETE FROM approvals_reassignment x WHERE x.tenant_id = p_tenant AND x.request_id = ANY (questions);
  DELETE FROM approvals_asked x WHERE x.tenant_id = p_tenant AND x.request_id = ANY (questions);
  DELETE FROM approvals_review x WHERE x.tenant_id = p_tenant AND x.request_id = ANY (questions);
  DELETE FROM approvals_requestversion x WHERE x.tenant_id = p_tenant AND x.request_id = ANY (questions);
  DELETE FROM approvals_approvalrequest x WHERE x.tenant_id = p_tenant AND x.id = ANY (questions);
  -- Nobody may come to refer to a wording while those that nobody refers to are taken: `wordings` locks it shared.
  PERFORM pg_advisory_xact_lock(subject_key(p_tenant, '#wordings'));
  DELETE FROM approvals_wording x WHERE x.tenant_id = p_tenant
    AND NOT EXISTS (SELECT FROM approvals_approvalrequest q WHERE q.tenant_id = p_tenant AND q.definition_digest = x.digest)
    AND NOT EXISTS (SELECT FROM approvals_approvalrequest q WHERE q.tenant_id = p_tenant AND q.requirement_digest = x.digest);
  DELETE FROM tenants_event x WHERE x.tenant_id = p_tenant AND x.subject = ANY (ARRAY(SELECT subject_of_run(d) FROM unnest(doomed) d));
  DELETE FROM runs_formerattempt x WHERE x.tenant_id = p_tenant AND x.run_id = ANY (doomed);
  DELETE FROM runs_text x WHERE x.tenant_id = p_tenant AND x.run_id = ANY (doomed);
  DELETE FROM runs_payload x WHERE x.tenant_id = p_tenant AND x.run_id = ANY (doomed);
  DELETE FROM runs_step x WHERE x.tenant_id = p_tenant AND x.run_id = ANY (doomed);
  -- In the order in which all others lock several: whoever switches a webhook on takes the same.
  PERFORM FROM runs_lease l WHERE l.tenant_id = p_tenant AND l.run_id = ANY (doomed) ORDER BY l.run_id FOR UPDATE;
  DELETE FROM runs_lease x WHERE x.tenant_id = p_tenant AND x.run_id = ANY (doomed);
  DELETE FROM runs_run x WHERE x.tenant_id = p_tenant AND x.id = ANY (doomed);
  UPDATE tenants_auditcontent c SET body = NULL FROM tenants_auditentry e
    WHERE e.tenant_id = p_tenant AND e.target = ANY (ARRAY(SELECT subject_bytes(t) FROM unnest(targets) t))
      AND c.tenant_id = p_tenant AND c.seq = e.seq AND c.body IS NOT NULL;
END
$$;

CREATE FUNCTION public.request_advance(p_tenant uuid, p_request uuid, p_now timestamp with time zone, p_may json, p_level integer, p_rung integer, p_short integer, p_due_at timestamp with time zone, p_next_at timestamp with time zone, p_stamp bigint) RETURNS SETOF uuid
    LANGUAGE plpgsql ROWS 10
    AS $$
BEGIN
    PERFORM request_climb(p_tenant, p_request, p_level, p_rung, p_short, p_due_at, p_next_at, p_stamp);
    RETURN QUERY SELECT * FROM request_ask(p_tenant, p_request, p_now, p_may);
END $$;

CREATE FUNCTION public.request_answer(p_tenant uuid, p_request uuid, p_subject text, p_id uuid, p_member uuid, p_in_place_of uuid, p_version integer, p_decision text, p_comment text, p_response text, p_channel text, p_actor jsonb, p_at timestamp with time zone, p_message text, p_data jsonb, p_status text, p_end_decision text, p_end_comment text, p_end_response text, p_event text, p_end_message text, p_end_data jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_subject bytea;
    v_first bigint;
    v_last bigint;
BEGIN
    INSERT INTO approvals_review (id, tenant_id, request_id, member_id, in_place_of_id, version, decision, comment,
                                  response, channel, actor, at)
    VALUES (p_id, p_tenant, p_request, p_member, p_in_place_of, p_version, p_decision, p_comment, p_response, p_channel,
            p_actor, p_at);
    IF p_status IS NOT NULL THEN
        PERFORM request_finish(
            p_tenant, p_request, p_status, p_end_decision, p_end_comment, p_end_response, p_actor, p_at);
    END IF;
    IF p_message IS NULL THEN
        RETURN NULL;
    END IF;
    v_subject := subject_bytes(p_subject);
    v_last := coalesce(
        (SELECT max(e.seq) FROM tenants_event e WHERE e.tenant_id = p_tenant AND e.subject = v_subject), 0);
    INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
    SELECT p_tenant, v_subject, v_last + x.place, x.name, clock_timestamp(), p_actor, x.message, x.data
      FROM (VALUES (1, 'approval.reviewed', p_message, p_data), (2, p_event, p_end_message, p_end_data))
           AS x(place, name, message, data)
     WHERE x.name IS NOT NULL;
    v_first := v_last + 1;
    v_last := v_last + CASE WHEN p_status IS NULL THEN 1 ELSE 2 END;
    PERFORM events_appended(p_tenant, v_subject, v_first, v_last);
    RETURN v_last;
END $$;

CREATE FUNCTION public.request_ascend(p_tenant uuid, p_request uuid, p_subject text, p_row text, p_now timestamp with time zone, p_may json, p_level integer, p_rung integer, p_short integer, p_due_at timestamp with time zone, p_next_at timestamp with time zone, p_stamp bigint, p_actor jsonb, p_facts jsonb, p_told jsonb, OUT code text, OUT last_event bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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
END $$;

CREATE FUNCTION public.request_ask(p_tenant uuid, p_request uuid, p_now timestamp with time zone, p_may json) RETURNS SETOF uuid
    LANGUAGE plpgsql ROWS 10
    AS $$
BEGIN
    UPDATE approvals_asked a SET until = p_now
     WHERE a.tenant_id = p_tenant AND a.request_id = p_request AND a.until IS NULL
       AND a.member_id NOT IN (SELECT m.member FROM json_to_recordset(p_may) AS m(member uuid));
    RETURN QUERY
    INSERT INTO approvals_asked (id, tenant_id, request_id, member_id, level, because, since)
    SELECT m.id, p_tenant, p_request, m.member, m.level, m.because, p_now
      FROM json_to_recordset(p_may) AS m(member uuid, id uuid, level integer, because text)
     WHERE NOT EXISTS (
           SELECT FROM approvals_asked a
            WHERE a.tenant_id = p_tenant AND a.request_id = p_request AND a.member_id = m.member AND a.until IS NULL)
 RETURNING member_id;
END $$;

CREATE FUNCTION public.request_climb(p_tenant uuid, p_request uuid, p_level integer, p_rung integer, p_short integer, p_due_at timestamp with time zone, p_next_at timestamp with time zone, p_stamp bigint) RETURNS void
    LANGUAGE sql
    AS $$
    UPDATE approvals_approvalrequest r
       SET escalation_level = p_level, rung = p_rung, short = p_short, due_at = p_due_at, next_at = p_next_at,
           asked_stamp = p_stamp
     WHERE r.tenant_id = p_tenant AND r.id = p_request
$$;

CREATE FUNCTION public.request_end(p_tenant uuid, p_request uuid, p_status text, p_decision text, p_comment text, p_response text, p_actor jsonb, p_at timestamp with time zone, p_event text, p_message text, p_data jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN event_append(
        p_tenant, request_finish(p_tenant, p_request, p_status, p_decision, p_comment, p_response, p_actor, p_at), p_event,
        p_actor, p_message, p_data);
END $$;

CREATE FUNCTION public.request_finish(p_tenant uuid, p_request uuid, p_status text, p_decision text, p_comment text, p_response text, p_actor jsonb, p_at timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_subject text;
    v_chats boolean;
BEGIN
    UPDATE approvals_approvalrequest r
       SET status = p_status, decision = p_decision, comment = p_comment, response = p_response, decided_at = p_at,
           decided_by = p_actor, due_at = NULL
     WHERE r.tenant_id = p_tenant AND r.id = p_request AND r.status = 'pending'
 RETURNING r.subject, EXISTS (SELECT FROM approvals_channel c WHERE c.tenant_id = p_tenant AND c.enabled)
      INTO v_subject, v_chats;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'request % is not pending', p_request USING ERRCODE = 'check_violation';
    END IF;
    UPDATE approvals_asked a SET until = p_at
     WHERE a.tenant_id = p_tenant AND a.request_id = p_request AND a.until IS NULL;
    IF v_chats THEN
        PERFORM request_follow(p_tenant, p_request, (p_actor->>3)::uuid);
    END IF;
    RETURN v_subject;
END $$;

CREATE FUNCTION public.request_follow(p_tenant uuid, p_request uuid, p_by uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Nearly always so, and several times cheaper than an INSERT of nothing.
    IF NOT EXISTS (SELECT FROM approvals_channel c WHERE c.tenant_id = p_tenant AND c.enabled) THEN
        RETURN;
    END IF;
    INSERT INTO approvals_delivery
      (id, tenant_id, request_id, member_id, channel_id, kind, key, transport, address, status, attempts, due_at, error)
    SELECT gen_random_uuid(), p_tenant, p_request, c.member_id, c.id, 'decided', p_request || ':decided:', 'chat',
           c.id::text, 'pending', 0, clock_timestamp(), ''
      FROM approvals_channel c
     WHERE c.tenant_id = p_tenant AND c.enabled AND c.archived_at IS NULL
       AND (c.kinds IS NULL OR 'decided' = ANY (c.kinds))
       AND (p_by IS NULL OR c.member_id IS NULL OR c.member_id <> p_by)
       AND EXISTS (
           SELECT FROM approvals_delivery d
            WHERE d.tenant_id = p_tenant AND d.request_id = p_request AND d.channel_id = c.id AND d.transport = 'chat'
              AND d.status IN ('sending', 'sent')
              AND d.kind IN ('asked', 'asked_again', 'closing_soon', 'vote_lapsed', 'nobody_left', 'not_evaluable'))
    ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION public.request_hold(p_tenant uuid, p_request uuid) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_subject text;
BEGIN
    SELECT r.subject INTO v_subject FROM approvals_approvalrequest r WHERE r.tenant_id = p_tenant AND r.id = p_request;
    IF v_subject IS NOT NULL THEN
        PERFORM subject_lock(p_tenant, v_subject);
    END IF;
    RETURN v_subject;
END $$;

CREATE FUNCTION public.request_lapse(p_tenant uuid, p_request uuid, p_actor jsonb, p_expired text, p_agreed text, OUT code text, OUT subject text, OUT ref text, OUT initiators uuid[], OUT fail_run boolean, OUT last_event bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
BEGIN
    subject := request_hold(p_tenant, p_request);
    IF subject IS NULL THEN
        code := 'unknown';
        RETURN;
    END IF;
    SELECT l.code, l.ref, l.initiators, l.fail_run, l.last_event
      INTO request_lapse.code, request_lapse.ref, request_lapse.initiators, request_lapse.fail_run, request_lapse.last_event
      FROM request_lapsed(p_tenant, p_request, p_actor, p_expired, p_agreed, true) l;
END $$;

CREATE FUNCTION public.request_lapsed(p_tenant uuid, p_request uuid, p_actor jsonb, p_expired text, p_agreed text, p_may_fail boolean, OUT code text, OUT ref text, OUT initiators uuid[], OUT fail_run boolean, OUT last_event bigint) RETURNS record
    LANGUAGE plpgsql
    AS $_$
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
END $_$;

CREATE FUNCTION public.request_review(p_tenant uuid, p_request uuid, p_subject text, p_id uuid, p_member uuid, p_in_place_of uuid, p_version integer, p_decision text, p_comment text, p_response text, p_channel text, p_actor jsonb, p_at timestamp with time zone, p_message text, p_data jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO approvals_review (id, tenant_id, request_id, member_id, in_place_of_id, version, decision, comment,
                                  response, channel, actor, at)
    VALUES (p_id, p_tenant, p_request, p_member, p_in_place_of, p_version, p_decision, p_comment, p_response, p_channel,
            p_actor, p_at);
    RETURN event_append(p_tenant, p_subject, 'approval.reviewed', p_actor, p_message, p_data);
END $$;

CREATE FUNCTION public.request_silence(p_tenant uuid, p_request uuid) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    SELECT coalesce(r.requirement->>'on_timeout', w.body->>'on_timeout')
      FROM approvals_approvalrequest r
      LEFT JOIN approvals_wording w ON w.tenant_id = r.tenant_id AND w.digest = r.requirement_digest
     WHERE r.tenant_id = p_tenant AND r.id = p_request
$$;

CREATE FUNCTION public.request_silent(p_tenant uuid, p_request uuid, p_subject text, p_stamp bigint, p_actor jsonb, p_expired text, p_agreed text, p_told jsonb, OUT code text, OUT ref text, OUT last_event bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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
END $$;

CREATE FUNCTION public.request_states() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE before text := CASE TG_OP WHEN 'INSERT' THEN '' ELSE OLD.status END;
BEGIN
  IF TG_OP = 'UPDATE' AND before = NEW.status THEN RETURN NEW; END IF;
  IF NOT (before || '>' || NEW.status = ANY (ARRAY['>pending', 'approved>superseded', 'pending>approved', 'pending>cancelled', 'pending>expired', 'pending>rejected', 'pending>responded', 'pending>superseded'])) THEN
    RAISE EXCEPTION 'approvals_approvalrequest: % to % is not allowed', coalesce(nullif(before, ''), 'nothing'), NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION public.request_states_frozen() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF NEW.tenant_id IS DISTINCT FROM OLD.tenant_id OR NEW.subject IS DISTINCT FROM OLD.subject OR NEW.ref IS DISTINCT FROM OLD.ref OR NEW.tool IS DISTINCT FROM OLD.tool OR NEW.tool_title IS DISTINCT FROM OLD.tool_title OR NEW.agent IS DISTINCT FROM OLD.agent OR NEW.agent_version IS DISTINCT FROM OLD.agent_version OR NEW.risk IS DISTINCT FROM OLD.risk OR NEW.effect IS DISTINCT FROM OLD.effect OR NEW.definition IS DISTINCT FROM OLD.definition OR NEW.definition_digest IS DISTINCT FROM OLD.definition_digest OR NEW.fingerprint IS DISTINCT FROM OLD.fingerprint OR NEW.proposed_arguments IS DISTINCT FROM OLD.proposed_arguments OR NEW.rationale IS DISTINCT FROM OLD.rationale OR NEW.initiators IS DISTINCT FROM OLD.initiators OR NEW.initiator IS DISTINCT FROM OLD.initiator OR NEW.labels IS DISTINCT FROM OLD.labels OR NEW.run IS DISTINCT FROM OLD.run OR NEW.evidence IS DISTINCT FROM OLD.evidence OR NEW.precondition IS DISTINCT FROM OLD.precondition OR NEW.supersedes_id IS DISTINCT FROM OLD.supersedes_id OR NEW.difference IS DISTINCT FROM OLD.difference OR NEW.opened_at IS DISTINCT FROM OLD.opened_at OR NEW.round IS DISTINCT FROM OLD.round THEN
    RAISE EXCEPTION 'approvals_approvalrequest: what was asked is frozen' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION public.request_tell(p_tenant uuid, p_request uuid, p_told jsonb) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO approvals_delivery (id, tenant_id, request_id, member_id, channel_id, kind, key, transport, address, status,
                                    attempts, due_at, error, bundled)
    SELECT t.id, p_tenant, p_request, t.member_id, t.channel_id, t.kind, t.key, t.transport, t.address, 'pending',
           0, coalesce(t.due_at, clock_timestamp()), '', t.bundled
      FROM jsonb_to_recordset(p_told) AS t(id uuid, member_id uuid, channel_id uuid, kind text, key text, transport text,
                                           address text, due_at timestamptz, bundled boolean)
    ON CONFLICT DO NOTHING
$$;

CREATE FUNCTION public.roster_absences() RETURNS text
    LANGUAGE sql STABLE
    AS $$
  SELECT json_agg(json_build_array(d.member_id, d.stand_in_id, d.starts, d.ends) ORDER BY d.created_at, d.id)::text
  FROM approvals_delegation d WHERE d.withdrawn_at IS NULL AND d.ends > clock_timestamp()
$$;

CREATE FUNCTION public.roster_restricted() RETURNS text
    LANGUAGE sql STABLE
    AS $$
  SELECT json_agg(json_build_array(a.agent,
     (SELECT json_agg(u.user_id) FROM tenants_agentuserpermission u
      JOIN auth_permission q ON q.id = u.permission_id AND q.codename = 'review'
      WHERE u.content_object_id = a.id)))::text
  FROM tenants_agentaccess a WHERE a.restricted
$$;

CREATE FUNCTION public.roster_rotations() RETURNS text
    LANGUAGE sql STABLE
    AS $$
  SELECT json_agg(json_build_array(r.id, r.name, r.zone, r.every, r.handover, r.first_day,
     (SELECT json_agg(p.member_id ORDER BY p.position) FROM approvals_rotationmember p WHERE p.rotation_id = r.id),
     (SELECT json_agg(json_build_array(o.member_id, o.starts, o.ends) ORDER BY o.created_at, o.id)
      FROM approvals_rotationoverride o
      WHERE o.rotation_id = r.id AND o.withdrawn_at IS NULL AND o.ends > clock_timestamp()),
     (SELECT json_agg(DISTINCT o.member_id) FROM approvals_rotationoverride o WHERE o.rotation_id = r.id)))::text
  FROM approvals_rotation r
$$;

CREATE FUNCTION public.run_answered(p_tenant uuid, p_run uuid, p_seq bigint, p_request uuid, p_status text, p_reason text, p_text text, p_actor jsonb, OUT last_event bigint, OUT woken boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.run_can_go_on(p_tenant uuid, p_run uuid) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    WITH pending AS (
        SELECT s.seq, s.status FROM runs_step s
         WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.status IN ('planned', 'started', 'unknown'))
    SELECT NOT EXISTS (SELECT FROM pending) OR EXISTS (
        SELECT FROM pending p WHERE p.status = 'planned' AND coalesce((
            SELECT q.status <> 'pending' FROM approvals_approvalrequest q
             WHERE q.tenant_id = p_tenant AND q.subject = 'run:' || p_run AND q.ref = p.seq::text
             ORDER BY q.opened_at DESC, q.id DESC LIMIT 1), true))
$$;

CREATE FUNCTION public.run_move(p_tenant uuid, p_run uuid, p_status text, p_reason text, p_actor jsonb, p_event text, p_message text, p_data jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.run_take(p_tenant uuid, p_run uuid, p_worker text, p_seconds double precision, p_knows text[], p_actor jsonb, OUT code text, OUT fence bigint, OUT started bigint, OUT agent text, OUT version text, OUT title text, OUT status text, OUT reason text, OUT labels text, OUT initiators uuid[], OUT started_by text, OUT budget text, OUT deadline timestamp with time zone, OUT created_at timestamp with time zone, OUT input text, OUT worked double precision, OUT last_event bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.run_wake(p_tenant uuid, p_run uuid, p_because text, p_actor jsonb, p_data jsonb) RETURNS bigint
    LANGUAGE sql
    AS $$
    SELECT w.last_event FROM run_wake_after(p_tenant, p_run, p_because, p_actor, p_data, '{}', '{}', '{}') w
$$;

CREATE FUNCTION public.run_wake_after(p_tenant uuid, p_run uuid, p_because text, p_actor jsonb, p_data jsonb, p_names text[], p_messages text[], p_story text[], OUT last_event bigint, OUT woken boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.runs_run_fixed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.id = OLD.id THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a row of % may not become %', TG_TABLE_NAME, NEW.status USING ERRCODE = 'check_violation';
END $$;

CREATE FUNCTION public.runs_run_kept() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT FROM runs_step s WHERE s.tenant_id = OLD.tenant_id AND s.run_id = OLD.id) THEN
        RAISE EXCEPTION 'run % still has steps', OLD.id USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN OLD;
END $$;

CREATE FUNCTION public.runs_run_state() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF jsonb_exists('{">queued": 1, "cancelled>cancelled": 1, "failed>failed": 1, "failed>queued": 1, "needs_attention>cancelled": 1, "needs_attention>failed": 1, "needs_attention>needs_attention": 1, "needs_attention>paused": 1, "needs_attention>queued": 1, "paused>cancelled": 1, "paused>failed": 1, "paused>paused": 1, "paused>queued": 1, "queued>cancelled": 1, "queued>failed": 1, "queued>needs_attention": 1, "queued>paused": 1, "queued>queued": 1, "queued>running": 1, "running>cancelled": 1, "running>failed": 1, "running>needs_attention": 1, "running>paused": 1, "running>queued": 1, "running>running": 1, "running>sleeping": 1, "running>succeeded": 1, "running>waiting_approval": 1, "sleeping>cancelled": 1, "sleeping>failed": 1, "sleeping>paused": 1, "sleeping>queued": 1, "sleeping>sleeping": 1, "succeeded>succeeded": 1, "waiting_approval>cancelled": 1, "waiting_approval>failed": 1, "waiting_approval>paused": 1, "waiting_approval>queued": 1, "waiting_approval>waiting_approval": 1}', concat(OLD.status, '>', NEW.status)) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a row of % may not become %', TG_TABLE_NAME, NEW.status USING ERRCODE = 'check_violation';
END $$;

CREATE FUNCTION public.runs_step_fixed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.kind = OLD.kind AND NEW.seq = OLD.seq AND NEW.run_id = OLD.run_id THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a row of % may not become %', TG_TABLE_NAME, NEW.status USING ERRCODE = 'check_violation';
END $$;

CREATE FUNCTION public.runs_step_state() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF jsonb_exists('{"compaction >planned": 1, "compaction >started": 1, "compaction cancelled>cancelled": 1, "compaction completed>completed": 1, "compaction failed>failed": 1, "compaction failed>planned": 1, "compaction planned>cancelled": 1, "compaction planned>planned": 1, "compaction planned>started": 1, "compaction started>completed": 1, "compaction started>failed": 1, "compaction started>started": 1, "model_turn >planned": 1, "model_turn >started": 1, "model_turn cancelled>cancelled": 1, "model_turn completed>completed": 1, "model_turn failed>failed": 1, "model_turn failed>planned": 1, "model_turn planned>cancelled": 1, "model_turn planned>planned": 1, "model_turn planned>started": 1, "model_turn started>completed": 1, "model_turn started>failed": 1, "model_turn started>started": 1, "observation >planned": 1, "observation >started": 1, "observation cancelled>cancelled": 1, "observation completed>completed": 1, "observation failed>failed": 1, "observation failed>planned": 1, "observation planned>cancelled": 1, "observation planned>planned": 1, "observation planned>started": 1, "observation started>completed": 1, "observation started>failed": 1, "observation started>started": 1, "tool_call >planned": 1, "tool_call >started": 1, "tool_call completed>completed": 1, "tool_call declined>declined": 1, "tool_call failed>failed": 1, "tool_call not_done>not_done": 1, "tool_call planned>declined": 1, "tool_call planned>planned": 1, "tool_call planned>started": 1, "tool_call started>completed": 1, "tool_call started>declined": 1, "tool_call started>failed": 1, "tool_call started>started": 1, "tool_call started>unknown": 1, "tool_call unknown>completed": 1, "tool_call unknown>not_done": 1, "tool_call unknown>planned": 1, "tool_call unknown>unknown": 1}', concat(NEW.kind, ' ', OLD.status, '>', NEW.status)) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a row of % may not become %', TG_TABLE_NAME, NEW.status USING ERRCODE = 'check_violation';
END $$;

CREATE FUNCTION public.subject_bytes(p_subject text) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT CASE WHEN p_subject LIKE 'run:________-____-____-____-____________'
                   AND translate(substr(p_subject, 5), '0123456789abcdef', '') = '----'
    THEN '\x01'::bytea || uuid_send(substr(p_subject, 5)::uuid)
    ELSE '\x00'::bytea || decode(replace(p_subject, '\', '\\'), 'escape') END
$$;

CREATE FUNCTION public.subject_key(p_tenant uuid, p_subject text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT hashtextextended(p_tenant::text || ' ' || p_subject, 0) $$;

CREATE FUNCTION public.subject_lock(p_tenant uuid, p_subject text) RETURNS void
    LANGUAGE sql
    AS $$ SELECT pg_advisory_xact_lock(subject_key(p_tenant, p_subject)) $$;

CREATE FUNCTION public.subject_of_run(p_run uuid) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT '\x01'::bytea || uuid_send(p_run) $$;

CREATE FUNCTION public.subject_text(p_subject bytea) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT CASE get_byte(p_subject, 0) WHEN 1 THEN 'run:' || encode(substr(p_subject, 2), 'hex')::uuid
    ELSE convert_from(substr(p_subject, 2), 'UTF8') END
$$;

CREATE TABLE public.account_emailaddress (
    id integer NOT NULL,
    email character varying(254) NOT NULL,
    verified boolean NOT NULL,
    "primary" boolean NOT NULL,
    user_id uuid NOT NULL
);

ALTER TABLE public.account_emailaddress ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.account_emailaddress_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.account_emailconfirmation (
    id integer NOT NULL,
    created timestamp with time zone NOT NULL,
    sent timestamp with time zone,
    key character varying(64) NOT NULL,
    email_address_id integer NOT NULL
);

ALTER TABLE public.account_emailconfirmation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.account_emailconfirmation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.approvals_approvalrequest (
    id uuid NOT NULL,
    subject text NOT NULL,
    ref text NOT NULL,
    status character varying(16) NOT NULL,
    version integer NOT NULL,
    round integer NOT NULL,
    escalation_level integer NOT NULL,
    rung integer NOT NULL,
    tool text NOT NULL,
    tool_title text NOT NULL,
    agent text NOT NULL,
    agent_version text NOT NULL,
    risk character varying(16) NOT NULL,
    effect character varying(16) NOT NULL,
    definition jsonb,
    fingerprint text NOT NULL,
    proposed_arguments text NOT NULL,
    rationale text NOT NULL,
    initiators uuid[] NOT NULL,
    initiator jsonb NOT NULL,
    labels jsonb NOT NULL,
    run jsonb NOT NULL,
    evidence text,
    evidence_error text NOT NULL,
    precondition text,
    flags jsonb NOT NULL,
    precedents jsonb NOT NULL,
    requirement jsonb,
    difference jsonb,
    opened_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    deadline timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    short integer NOT NULL,
    decided_at timestamp with time zone,
    decided_by jsonb,
    decision character varying(16) NOT NULL,
    comment text NOT NULL,
    response text NOT NULL,
    supersedes_id uuid,
    tenant_id uuid NOT NULL,
    asked_stamp bigint NOT NULL,
    next_at timestamp with time zone,
    definition_digest bytea,
    requirement_digest bytea,
    CONSTRAINT request_end_has_a_time CHECK ((((status)::text = 'pending'::text) OR (decided_at IS NOT NULL)))
);

ALTER TABLE ONLY public.approvals_approvalrequest FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_asked (
    id uuid NOT NULL,
    level integer NOT NULL,
    because text NOT NULL,
    since timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    until timestamp with time zone,
    member_id uuid NOT NULL,
    request_id uuid NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.approvals_asked FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_calendar (
    id uuid NOT NULL,
    name text NOT NULL,
    zone text NOT NULL,
    week jsonb NOT NULL,
    country character varying(2) NOT NULL,
    subdivision character varying(16) NOT NULL,
    days jsonb NOT NULL,
    is_default boolean NOT NULL,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT default_calendar_stays CHECK (((NOT is_default) OR (archived_at IS NULL)))
);

ALTER TABLE ONLY public.approvals_calendar FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_callbackseen (
    id uuid NOT NULL,
    message character varying(200) NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id uuid NOT NULL,
    channel_id uuid NOT NULL
);

ALTER TABLE ONLY public.approvals_callbackseen FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_channel (
    id uuid NOT NULL,
    kind character varying(16) NOT NULL,
    name character varying(100) NOT NULL,
    url text NOT NULL,
    shown_url character varying(200) NOT NULL,
    events character varying(40)[] NOT NULL,
    secret text NOT NULL,
    former_secret text NOT NULL,
    former_until timestamp with time zone,
    enabled boolean NOT NULL,
    off_because text NOT NULL,
    failures integer NOT NULL,
    failing_since timestamp with time zone,
    not_before timestamp with time zone,
    last_error text NOT NULL,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    member_id uuid,
    tenant_id uuid NOT NULL,
    kinds character varying(40)[],
    refused integer DEFAULT 0 NOT NULL,
    refused_since timestamp with time zone,
    CONSTRAINT approvals_channel_failures_check CHECK ((failures >= 0)),
    CONSTRAINT approvals_channel_refused_check CHECK ((refused >= 0))
);

ALTER TABLE ONLY public.approvals_channel FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_channelperson (
    id uuid NOT NULL,
    external_id character varying(200) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    channel_id uuid NOT NULL,
    member_id uuid NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.approvals_channelperson FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_delegation (
    id uuid NOT NULL,
    starts timestamp with time zone NOT NULL,
    ends timestamp with time zone NOT NULL,
    withdrawn_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    member_id uuid NOT NULL,
    stand_in_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT delegation_has_time CHECK ((ends > starts)),
    CONSTRAINT delegation_to_another CHECK ((NOT (member_id = stand_in_id)))
);

ALTER TABLE ONLY public.approvals_delegation FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_delivery (
    id uuid NOT NULL,
    kind character varying(32) NOT NULL,
    key text NOT NULL,
    transport character varying(16) NOT NULL,
    address text NOT NULL,
    status character varying(16) NOT NULL,
    attempts integer NOT NULL,
    due_at timestamp with time zone,
    claimed_until timestamp with time zone,
    error text NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    sent_at timestamp with time zone,
    member_id uuid,
    request_id uuid,
    tenant_id uuid NOT NULL,
    bundled boolean DEFAULT false NOT NULL,
    origin uuid,
    seq bigint,
    subject character varying(100) DEFAULT ''::character varying NOT NULL,
    channel_id uuid
);

ALTER TABLE ONLY public.approvals_delivery FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_escalationpolicy (
    id uuid NOT NULL,
    name text NOT NULL,
    levels jsonb NOT NULL,
    repeats integer NOT NULL,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id uuid NOT NULL,
    working_time boolean DEFAULT false NOT NULL,
    calendar_id uuid,
    CONSTRAINT approvals_escalationpolicy_repeats_check CHECK ((repeats >= 0))
);

ALTER TABLE ONLY public.approvals_escalationpolicy FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_noticewish (
    id uuid NOT NULL,
    off jsonb NOT NULL,
    digest character varying(8) NOT NULL,
    quiet_from time without time zone,
    quiet_until time without time zone,
    member_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT digest_known CHECK (((digest)::text = ANY ((ARRAY['none'::character varying, 'hourly'::character varying, 'daily'::character varying])::text[]))),
    CONSTRAINT quiet_has_both_ends CHECK ((((quiet_from IS NULL) AND (quiet_until IS NULL)) OR ((quiet_from IS NOT NULL) AND (quiet_until IS NOT NULL))))
);

ALTER TABLE ONLY public.approvals_noticewish FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_policyrule (
    id uuid NOT NULL,
    name text NOT NULL,
    "position" integer NOT NULL,
    is_default boolean NOT NULL,
    live integer,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT approvals_policyrule_live_check CHECK ((live >= 0))
);

ALTER TABLE ONLY public.approvals_policyrule FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_policyversion (
    id uuid NOT NULL,
    number integer NOT NULL,
    body jsonb NOT NULL,
    note text NOT NULL,
    author jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    rule_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT approvals_policyversion_number_check CHECK ((number >= 0))
);

ALTER TABLE ONLY public.approvals_policyversion FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_reassignment (
    id uuid NOT NULL,
    comment text NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    after_id uuid NOT NULL,
    before_id uuid NOT NULL,
    request_id uuid NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.approvals_reassignment FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_requestcomment (
    id uuid NOT NULL,
    actor jsonb NOT NULL,
    text text NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    member_id uuid,
    request_id uuid NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.approvals_requestcomment FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_requestversion (
    id uuid NOT NULL,
    number integer NOT NULL,
    arguments text NOT NULL,
    digest character varying(64) NOT NULL,
    title text NOT NULL,
    edited_fields text[] NOT NULL,
    comment text NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    edited_by_id uuid,
    request_id uuid NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.approvals_requestversion FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_review (
    id uuid NOT NULL,
    version integer NOT NULL,
    decision character varying(16) NOT NULL,
    comment text NOT NULL,
    response text NOT NULL,
    channel character varying(16) NOT NULL,
    actor jsonb NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    in_place_of_id uuid,
    member_id uuid NOT NULL,
    request_id uuid NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.approvals_review FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_rotation (
    id uuid NOT NULL,
    name text NOT NULL,
    zone text NOT NULL,
    every character varying(8) NOT NULL,
    handover time without time zone NOT NULL,
    first_day date NOT NULL,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT rotation_turns_known CHECK (((every)::text = ANY ((ARRAY['day'::character varying, 'week'::character varying])::text[])))
);

ALTER TABLE ONLY public.approvals_rotation FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_rotationmember (
    id uuid NOT NULL,
    "position" integer NOT NULL,
    member_id uuid NOT NULL,
    rotation_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT approvals_rotationmember_position_check CHECK (("position" >= 0))
);

ALTER TABLE ONLY public.approvals_rotationmember FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_rotationoverride (
    id uuid NOT NULL,
    starts timestamp with time zone NOT NULL,
    ends timestamp with time zone NOT NULL,
    withdrawn_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    member_id uuid NOT NULL,
    rotation_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT override_has_time CHECK ((ends > starts))
);

ALTER TABLE ONLY public.approvals_rotationoverride FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_viewing (
    id uuid NOT NULL,
    version integer NOT NULL,
    since timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    last timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    member_id uuid NOT NULL,
    request_id uuid NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.approvals_viewing FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals_wording (
    digest bytea NOT NULL,
    body jsonb NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.approvals_wording FORCE ROW LEVEL SECURITY;

CREATE TABLE public.auth_group (
    id integer NOT NULL,
    name character varying(150) NOT NULL
);

ALTER TABLE public.auth_group ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.auth_group_permissions (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);

ALTER TABLE public.auth_group_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.auth_permission (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    content_type_id integer NOT NULL,
    codename character varying(100) NOT NULL
);

ALTER TABLE public.auth_permission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_permission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.django_content_type (
    id integer NOT NULL,
    app_label character varying(100) NOT NULL,
    model character varying(100) NOT NULL
);

ALTER TABLE public.django_content_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_content_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.django_migrations (
    id bigint NOT NULL,
    app character varying(255) NOT NULL,
    name character varying(255) NOT NULL,
    applied timestamp with time zone NOT NULL
);

ALTER TABLE public.django_migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.django_session (
    session_key character varying(40) NOT NULL,
    session_data text NOT NULL,
    expire_date timestamp with time zone NOT NULL
);

CREATE TABLE public.guardian_groupobjectpermission (
    id integer NOT NULL,
    object_pk character varying(255) NOT NULL,
    content_type_id integer NOT NULL,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);

ALTER TABLE public.guardian_groupobjectpermission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.guardian_groupobjectpermission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.guardian_userobjectpermission (
    id integer NOT NULL,
    object_pk character varying(255) NOT NULL,
    content_type_id integer NOT NULL,
    permission_id integer NOT NULL,
    user_id uuid NOT NULL
);

ALTER TABLE public.guardian_userobjectpermission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.guardian_userobjectpermission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.mfa_authenticator (
    id bigint NOT NULL,
    type character varying(20) NOT NULL,
    data jsonb NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone
);

ALTER TABLE public.mfa_authenticator ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.mfa_authenticator_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.runs_agentversion (
    id bigint NOT NULL,
    agent text NOT NULL,
    version text NOT NULL,
    model text NOT NULL,
    fits text[] NOT NULL,
    tools text[] NOT NULL,
    definition jsonb NOT NULL,
    announced_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    known_until timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);

ALTER TABLE public.runs_agentversion ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.runs_agentversion_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.runs_formerattempt (
    seq bigint CONSTRAINT runs_attempt_seq_not_null NOT NULL,
    number integer CONSTRAINT runs_attempt_number_not_null NOT NULL,
    kind text CONSTRAINT runs_attempt_kind_not_null NOT NULL,
    fence bigint CONSTRAINT runs_attempt_fence_not_null NOT NULL,
    key text CONSTRAINT runs_attempt_key_not_null NOT NULL,
    opened_at timestamp with time zone DEFAULT statement_timestamp() CONSTRAINT runs_attempt_opened_at_not_null NOT NULL,
    closed_at timestamp with time zone,
    cause text CONSTRAINT runs_attempt_cause_not_null NOT NULL,
    message text CONSTRAINT runs_attempt_message_not_null NOT NULL,
    not_done boolean,
    next_at timestamp with time zone,
    tenant_id uuid CONSTRAINT runs_attempt_tenant_id_not_null NOT NULL,
    run_id uuid CONSTRAINT runs_attempt_run_id_not_null NOT NULL
);

ALTER TABLE ONLY public.runs_formerattempt FORCE ROW LEVEL SECURITY;

CREATE TABLE public.runs_step (
    seq bigint NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    turn bigint NOT NULL,
    tool text NOT NULL,
    effect text NOT NULL,
    call_id text NOT NULL,
    digest text NOT NULL,
    generation integer NOT NULL,
    attempts integer NOT NULL,
    spent integer NOT NULL,
    due_at timestamp with time zone,
    proposed text,
    arguments text,
    rationale text,
    result text,
    payloads jsonb,
    unknown_since timestamp with time zone,
    tokens_in bigint,
    tokens_out bigint,
    cost numeric(20,10),
    tokens_total bigint,
    cost_total numeric(20,10),
    run_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    last_kind text,
    last_fence bigint,
    last_key text,
    last_opened_at timestamp with time zone,
    last_closed_at timestamp with time zone,
    last_cause text,
    last_message text,
    last_not_done boolean,
    last_next_at timestamp with time zone
);

ALTER TABLE ONLY public.runs_step FORCE ROW LEVEL SECURITY;

CREATE VIEW public.runs_attempt WITH (security_invoker='true') AS
 SELECT s.seq,
    s.attempts AS number,
    s.last_kind AS kind,
    s.last_fence AS fence,
    s.last_key AS key,
    s.last_opened_at AS opened_at,
    s.last_closed_at AS closed_at,
    COALESCE(s.last_cause, ''::text) AS cause,
    COALESCE(s.last_message, ''::text) AS message,
    s.last_not_done AS not_done,
    s.last_next_at AS next_at,
    s.tenant_id,
    s.run_id
   FROM public.runs_step s
  WHERE (s.last_opened_at IS NOT NULL)
UNION ALL
 SELECT a.seq,
    a.number,
    a.kind,
    a.fence,
    a.key,
    a.opened_at,
    a.closed_at,
    a.cause,
    a.message,
    a.not_done,
    a.next_at,
    a.tenant_id,
    a.run_id
   FROM public.runs_formerattempt a;

CREATE TABLE public.runs_lease (
    fence bigint NOT NULL,
    holder text NOT NULL,
    until timestamp with time zone,
    since timestamp with time zone,
    worked double precision NOT NULL,
    crashes integer NOT NULL,
    crash_seq bigint NOT NULL,
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL,
    halted boolean DEFAULT false NOT NULL,
    heard boolean DEFAULT false NOT NULL,
    stopped boolean DEFAULT false NOT NULL
);

ALTER TABLE ONLY public.runs_lease FORCE ROW LEVEL SECURITY;

CREATE TABLE public.runs_payload (
    id uuid NOT NULL,
    digest text NOT NULL,
    size bigint NOT NULL,
    media_type text NOT NULL,
    location text NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL
);

ALTER TABLE ONLY public.runs_payload FORCE ROW LEVEL SECURITY;

CREATE TABLE public.runs_run (
    id uuid NOT NULL,
    agent text NOT NULL,
    version text NOT NULL,
    title text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    labels jsonb NOT NULL,
    initiators uuid[] NOT NULL,
    started_by jsonb NOT NULL,
    budget jsonb NOT NULL,
    deadline timestamp with time zone,
    due_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    tenant_id uuid NOT NULL,
    unsettled boolean DEFAULT false NOT NULL,
    compacted bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.runs_run FORCE ROW LEVEL SECURITY;

CREATE TABLE public.runs_text (
    seq bigint NOT NULL,
    name text NOT NULL,
    body text NOT NULL,
    payload uuid,
    run_id uuid NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.runs_text FORCE ROW LEVEL SECURITY;

CREATE TABLE public.runs_tooldefinition (
    fingerprint text NOT NULL,
    name text NOT NULL,
    definition jsonb NOT NULL,
    announced_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);

CREATE TABLE public.runs_workerseen (
    worker text NOT NULL,
    knows text[] NOT NULL,
    until timestamp with time zone NOT NULL
);

CREATE TABLE public.socialaccount_socialaccount (
    id integer NOT NULL,
    provider character varying(200) NOT NULL,
    uid character varying(191) NOT NULL,
    last_login timestamp with time zone NOT NULL,
    date_joined timestamp with time zone NOT NULL,
    extra_data jsonb NOT NULL,
    user_id uuid NOT NULL
);

ALTER TABLE public.socialaccount_socialaccount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.socialaccount_socialaccount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.socialaccount_socialapp (
    id integer NOT NULL,
    provider character varying(30) NOT NULL,
    name character varying(40) NOT NULL,
    client_id character varying(191) NOT NULL,
    secret character varying(191) NOT NULL,
    key character varying(191) NOT NULL,
    provider_id character varying(200) NOT NULL,
    settings jsonb NOT NULL
);

ALTER TABLE public.socialaccount_socialapp ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.socialaccount_socialapp_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.socialaccount_socialtoken (
    id integer NOT NULL,
    token text NOT NULL,
    token_secret text NOT NULL,
    expires_at timestamp with time zone,
    account_id integer NOT NULL,
    app_id integer
);

ALTER TABLE public.socialaccount_socialtoken ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.socialaccount_socialtoken_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tenants_agentaccess (
    id uuid NOT NULL,
    agent character varying(200) NOT NULL,
    enabled boolean NOT NULL,
    restricted boolean NOT NULL,
    stopped boolean NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.tenants_agentaccess FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_agentuserpermission (
    id uuid NOT NULL,
    content_object_id uuid NOT NULL,
    permission_id integer NOT NULL,
    user_id uuid NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.tenants_agentuserpermission FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_apikey (
    id uuid NOT NULL,
    name character varying(100) NOT NULL,
    service boolean NOT NULL,
    scopes character varying(32)[] NOT NULL,
    secret_hash character varying(64) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    revoked_at timestamp with time zone,
    tenant_id uuid NOT NULL,
    owner_id uuid NOT NULL
);

ALTER TABLE ONLY public.tenants_apikey FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_auditcontent (
    seq bigint NOT NULL,
    body text,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.tenants_auditcontent FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_auditentry (
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_kind character varying(16) NOT NULL,
    actor_id character varying(200) NOT NULL,
    action character varying(60) NOT NULL,
    target bytea NOT NULL,
    refused boolean NOT NULL,
    channel character varying(20) NOT NULL,
    content_digest bytea NOT NULL,
    previous bytea NOT NULL,
    digest bytea NOT NULL,
    signature bytea NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.tenants_auditentry FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_audithead (
    tenant_id uuid NOT NULL,
    seq bigint NOT NULL,
    digest character varying(64) NOT NULL,
    signature character varying(128) NOT NULL
);

ALTER TABLE ONLY public.tenants_audithead FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_event (
    subject bytea NOT NULL,
    seq integer NOT NULL,
    name character varying(40) NOT NULL,
    at timestamp with time zone NOT NULL,
    actor jsonb NOT NULL,
    message text NOT NULL,
    data jsonb NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.tenants_event FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_group (
    id uuid NOT NULL,
    name character varying(100) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.tenants_group FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_groupmember (
    id uuid NOT NULL,
    group_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    member_id uuid NOT NULL
);

ALTER TABLE ONLY public.tenants_groupmember FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_idempotentanswer (
    id uuid NOT NULL,
    actor character varying(200) NOT NULL,
    method character varying(8) NOT NULL,
    path character varying(500) NOT NULL,
    key character varying(255) NOT NULL,
    body_digest character varying(64) NOT NULL,
    status smallint,
    body text NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT tenants_idempotentanswer_status_check CHECK ((status >= 0))
);

ALTER TABLE ONLY public.tenants_idempotentanswer FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_member (
    id uuid NOT NULL,
    roles character varying(16)[] NOT NULL,
    active boolean NOT NULL,
    locale character varying(16) NOT NULL,
    timezone character varying(64) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    person_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT known_roles CHECK ((roles <@ ARRAY['reviewer'::character varying(16), 'manager'::character varying(16), 'admin'::character varying(16)]))
);

ALTER TABLE ONLY public.tenants_member FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_person (
    password character varying(128) NOT NULL,
    last_login timestamp with time zone,
    id uuid NOT NULL,
    email character varying(254) NOT NULL,
    name character varying(200) NOT NULL,
    is_active boolean NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);

CREATE TABLE public.tenants_secret (
    id uuid NOT NULL,
    name character varying(100) NOT NULL,
    value text NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.tenants_secret FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants_tenant (
    id uuid NOT NULL,
    slug character varying(60) NOT NULL,
    name character varying(200) NOT NULL,
    timezone character varying(64) NOT NULL,
    locale character varying(16) NOT NULL,
    initiators_may_review boolean NOT NULL,
    second_factor boolean NOT NULL,
    retention_days integer NOT NULL,
    notifications jsonb NOT NULL,
    stamp bigint NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    CONSTRAINT tenants_tenant_retention_days_check CHECK ((retention_days >= 0))
);

CREATE TABLE public.tenants_toolsetting (
    id uuid NOT NULL,
    tool character varying(200) NOT NULL,
    enabled boolean NOT NULL,
    risk character varying(16) NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.tenants_toolsetting FORCE ROW LEVEL SECURITY;

INSERT INTO public.auth_permission VALUES
	(1, 'Can add tool definition', 1, 'add_tooldefinition'),
	(2, 'Can change tool definition', 1, 'change_tooldefinition'),
	(3, 'Can delete tool definition', 1, 'delete_tooldefinition'),
	(4, 'Can view tool definition', 1, 'view_tooldefinition'),
	(5, 'Can add worker seen', 2, 'add_workerseen'),
	(6, 'Can change worker seen', 2, 'change_workerseen'),
	(7, 'Can delete worker seen', 2, 'delete_workerseen'),
	(8, 'Can view worker seen', 2, 'view_workerseen'),
	(9, 'Can add agent version', 3, 'add_agentversion'),
	(10, 'Can change agent version', 3, 'change_agentversion'),
	(11, 'Can delete agent version', 3, 'delete_agentversion'),
	(12, 'Can view agent version', 3, 'view_agentversion'),
	(13, 'Can add run', 4, 'add_run'),
	(14, 'Can change run', 4, 'change_run'),
	(15, 'Can delete run', 4, 'delete_run'),
	(16, 'Can view run', 4, 'view_run'),
	(17, 'Can add payload', 5, 'add_payload'),
	(18, 'Can change payload', 5, 'change_payload'),
	(19, 'Can delete payload', 5, 'delete_payload'),
	(20, 'Can view payload', 5, 'view_payload'),
	(21, 'Can add lease', 6, 'add_lease'),
	(22, 'Can change lease', 6, 'change_lease'),
	(23, 'Can delete lease', 6, 'delete_lease'),
	(24, 'Can view lease', 6, 'view_lease'),
	(25, 'Can add step', 7, 'add_step'),
	(26, 'Can change step', 7, 'change_step'),
	(27, 'Can delete step', 7, 'delete_step'),
	(28, 'Can view step', 7, 'view_step'),
	(29, 'Can add text', 8, 'add_text'),
	(30, 'Can change text', 8, 'change_text'),
	(31, 'Can delete text', 8, 'delete_text'),
	(32, 'Can view text', 8, 'view_text'),
	(33, 'Can add former attempt', 9, 'add_formerattempt'),
	(34, 'Can change former attempt', 9, 'change_formerattempt'),
	(35, 'Can delete former attempt', 9, 'delete_formerattempt'),
	(36, 'Can view former attempt', 9, 'view_formerattempt'),
	(37, 'Can add attempt', 10, 'add_attempt'),
	(38, 'Can change attempt', 10, 'change_attempt'),
	(39, 'Can delete attempt', 10, 'delete_attempt'),
	(40, 'Can view attempt', 10, 'view_attempt'),
	(41, 'Can add approval request', 11, 'add_approvalrequest'),
	(42, 'Can change approval request', 11, 'change_approvalrequest'),
	(43, 'Can delete approval request', 11, 'delete_approvalrequest'),
	(44, 'Can view approval request', 11, 'view_approvalrequest'),
	(45, 'Can add asked', 12, 'add_asked'),
	(46, 'Can change asked', 12, 'change_asked'),
	(47, 'Can delete asked', 12, 'delete_asked'),
	(48, 'Can view asked', 12, 'view_asked'),
	(49, 'Can add delegation', 13, 'add_delegation'),
	(50, 'Can change delegation', 13, 'change_delegation'),
	(51, 'Can delete delegation', 13, 'delete_delegation'),
	(52, 'Can view delegation', 13, 'view_delegation'),
	(53, 'Can add delivery', 14, 'add_delivery'),
	(54, 'Can change delivery', 14, 'change_delivery'),
	(55, 'Can delete delivery', 14, 'delete_delivery'),
	(56, 'Can view delivery', 14, 'view_delivery'),
	(57, 'Can add escalation policy', 15, 'add_escalationpolicy'),
	(58, 'Can change escalation policy', 15, 'change_escalationpolicy'),
	(59, 'Can delete escalation policy', 15, 'delete_escalationpolicy'),
	(60, 'Can view escalation policy', 15, 'view_escalationpolicy'),
	(61, 'Can add policy rule', 16, 'add_policyrule'),
	(62, 'Can change policy rule', 16, 'change_policyrule'),
	(63, 'Can delete policy rule', 16, 'delete_policyrule'),
	(64, 'Can view policy rule', 16, 'view_policyrule'),
	(65, 'Can add policy version', 17, 'add_policyversion'),
	(66, 'Can change policy version', 17, 'change_policyversion'),
	(67, 'Can delete policy version', 17, 'delete_policyversion'),
	(68, 'Can view policy version', 17, 'view_policyversion'),
	(69, 'Can add reassignment', 18, 'add_reassignment'),
	(70, 'Can change reassignment', 18, 'change_reassignment'),
	(71, 'Can delete reassignment', 18, 'delete_reassignment'),
	(72, 'Can view reassignment', 18, 'view_reassignment'),
	(73, 'Can add request comment', 19, 'add_requestcomment'),
	(74, 'Can change request comment', 19, 'change_requestcomment'),
	(75, 'Can delete request comment', 19, 'delete_requestcomment'),
	(76, 'Can view request comment', 19, 'view_requestcomment'),
	(77, 'Can add request version', 20, 'add_requestversion'),
	(78, 'Can change request version', 20, 'change_requestversion'),
	(79, 'Can delete request version', 20, 'delete_requestversion'),
	(80, 'Can view request version', 20, 'view_requestversion'),
	(81, 'Can add review', 21, 'add_review'),
	(82, 'Can change review', 21, 'change_review'),
	(83, 'Can delete review', 21, 'delete_review'),
	(84, 'Can view review', 21, 'view_review'),
	(85, 'Can add viewing', 22, 'add_viewing'),
	(86, 'Can change viewing', 22, 'change_viewing'),
	(87, 'Can delete viewing', 22, 'delete_viewing'),
	(88, 'Can view viewing', 22, 'view_viewing'),
	(89, 'Can add calendar', 23, 'add_calendar'),
	(90, 'Can change calendar', 23, 'change_calendar'),
	(91, 'Can delete calendar', 23, 'delete_calendar'),
	(92, 'Can view calendar', 23, 'view_calendar'),
	(93, 'Can add rotation', 24, 'add_rotation'),
	(94, 'Can change rotation', 24, 'change_rotation'),
	(95, 'Can delete rotation', 24, 'delete_rotation'),
	(96, 'Can view rotation', 24, 'view_rotation'),
	(97, 'Can add rotation member', 25, 'add_rotationmember'),
	(98, 'Can change rotation member', 25, 'change_rotationmember'),
	(99, 'Can delete rotation member', 25, 'delete_rotationmember'),
	(100, 'Can view rotation member', 25, 'view_rotationmember');
INSERT INTO public.auth_permission VALUES
	(101, 'Can add rotation override', 26, 'add_rotationoverride'),
	(102, 'Can change rotation override', 26, 'change_rotationoverride'),
	(103, 'Can delete rotation override', 26, 'delete_rotationoverride'),
	(104, 'Can view rotation override', 26, 'view_rotationoverride'),
	(105, 'Can add wording', 27, 'add_wording'),
	(106, 'Can change wording', 27, 'change_wording'),
	(107, 'Can delete wording', 27, 'delete_wording'),
	(108, 'Can view wording', 27, 'view_wording'),
	(109, 'Can add channel person', 28, 'add_channelperson'),
	(110, 'Can change channel person', 28, 'change_channelperson'),
	(111, 'Can delete channel person', 28, 'delete_channelperson'),
	(112, 'Can view channel person', 28, 'view_channelperson'),
	(113, 'Can add notice wish', 29, 'add_noticewish'),
	(114, 'Can change notice wish', 29, 'change_noticewish'),
	(115, 'Can delete notice wish', 29, 'delete_noticewish'),
	(116, 'Can view notice wish', 29, 'view_noticewish'),
	(117, 'Can add channel', 30, 'add_channel'),
	(118, 'Can change channel', 30, 'change_channel'),
	(119, 'Can delete channel', 30, 'delete_channel'),
	(120, 'Can view channel', 30, 'view_channel'),
	(121, 'Can add callback seen', 31, 'add_callbackseen'),
	(122, 'Can change callback seen', 31, 'change_callbackseen'),
	(123, 'Can delete callback seen', 31, 'delete_callbackseen'),
	(124, 'Can view callback seen', 31, 'view_callbackseen'),
	(125, 'Can add person', 32, 'add_person'),
	(126, 'Can change person', 32, 'change_person'),
	(127, 'Can delete person', 32, 'delete_person'),
	(128, 'Can view person', 32, 'view_person'),
	(129, 'Can add tenant', 33, 'add_tenant'),
	(130, 'Can change tenant', 33, 'change_tenant'),
	(131, 'Can delete tenant', 33, 'delete_tenant'),
	(132, 'Can view tenant', 33, 'view_tenant'),
	(133, 'Can add audit head', 34, 'add_audithead'),
	(134, 'Can change audit head', 34, 'change_audithead'),
	(135, 'Can delete audit head', 34, 'delete_audithead'),
	(136, 'Can view audit head', 34, 'view_audithead'),
	(137, 'Can add audit content', 35, 'add_auditcontent'),
	(138, 'Can change audit content', 35, 'change_auditcontent'),
	(139, 'Can delete audit content', 35, 'delete_auditcontent'),
	(140, 'Can view audit content', 35, 'view_auditcontent'),
	(141, 'See the agent''s runs', 36, 'view_runs'),
	(142, 'Operate the agent''s runs', 36, 'operate_runs'),
	(143, 'Answer the agent''s requests', 36, 'review'),
	(144, 'Can add event', 37, 'add_event'),
	(145, 'Can change event', 37, 'change_event'),
	(146, 'Can delete event', 37, 'delete_event'),
	(147, 'Can view event', 37, 'view_event'),
	(148, 'Can add group', 38, 'add_group'),
	(149, 'Can change group', 38, 'change_group'),
	(150, 'Can delete group', 38, 'delete_group'),
	(151, 'Can view group', 38, 'view_group'),
	(152, 'Can add idempotent answer', 39, 'add_idempotentanswer'),
	(153, 'Can change idempotent answer', 39, 'change_idempotentanswer'),
	(154, 'Can delete idempotent answer', 39, 'delete_idempotentanswer'),
	(155, 'Can view idempotent answer', 39, 'view_idempotentanswer'),
	(156, 'Can add member', 40, 'add_member'),
	(157, 'Can change member', 40, 'change_member'),
	(158, 'Can delete member', 40, 'delete_member'),
	(159, 'Can view member', 40, 'view_member'),
	(160, 'Can add group member', 41, 'add_groupmember'),
	(161, 'Can change group member', 41, 'change_groupmember'),
	(162, 'Can delete group member', 41, 'delete_groupmember'),
	(163, 'Can view group member', 41, 'view_groupmember'),
	(164, 'Can add api key', 42, 'add_apikey'),
	(165, 'Can change api key', 42, 'change_apikey'),
	(166, 'Can delete api key', 42, 'delete_apikey'),
	(167, 'Can view api key', 42, 'view_apikey'),
	(168, 'Can add secret', 43, 'add_secret'),
	(169, 'Can change secret', 43, 'change_secret'),
	(170, 'Can delete secret', 43, 'delete_secret'),
	(171, 'Can view secret', 43, 'view_secret'),
	(172, 'Can add tool setting', 44, 'add_toolsetting'),
	(173, 'Can change tool setting', 44, 'change_toolsetting'),
	(174, 'Can delete tool setting', 44, 'delete_toolsetting'),
	(175, 'Can view tool setting', 44, 'view_toolsetting'),
	(176, 'Can add audit entry', 45, 'add_auditentry'),
	(177, 'Can change audit entry', 45, 'change_auditentry'),
	(178, 'Can delete audit entry', 45, 'delete_auditentry'),
	(179, 'Can view audit entry', 45, 'view_auditentry'),
	(180, 'Can add agent user permission', 46, 'add_agentuserpermission'),
	(181, 'Can change agent user permission', 46, 'change_agentuserpermission'),
	(182, 'Can delete agent user permission', 46, 'delete_agentuserpermission'),
	(183, 'Can view agent user permission', 46, 'view_agentuserpermission'),
	(184, 'Can add permission', 47, 'add_permission'),
	(185, 'Can change permission', 47, 'change_permission'),
	(186, 'Can delete permission', 47, 'delete_permission'),
	(187, 'Can view permission', 47, 'view_permission'),
	(188, 'Can add group', 48, 'add_group'),
	(189, 'Can change group', 48, 'change_group'),
	(190, 'Can delete group', 48, 'delete_group'),
	(191, 'Can view group', 48, 'view_group'),
	(192, 'Can add content type', 49, 'add_contenttype'),
	(193, 'Can change content type', 49, 'change_contenttype'),
	(194, 'Can delete content type', 49, 'delete_contenttype'),
	(195, 'Can view content type', 49, 'view_contenttype'),
	(196, 'Can add session', 50, 'add_session'),
	(197, 'Can change session', 50, 'change_session'),
	(198, 'Can delete session', 50, 'delete_session'),
	(199, 'Can view session', 50, 'view_session'),
	(200, 'Can add email address', 51, 'add_emailaddress');
INSERT INTO public.auth_permission VALUES
	(201, 'Can change email address', 51, 'change_emailaddress'),
	(202, 'Can delete email address', 51, 'delete_emailaddress'),
	(203, 'Can view email address', 51, 'view_emailaddress'),
	(204, 'Can add email confirmation', 52, 'add_emailconfirmation'),
	(205, 'Can change email confirmation', 52, 'change_emailconfirmation'),
	(206, 'Can delete email confirmation', 52, 'delete_emailconfirmation'),
	(207, 'Can view email confirmation', 52, 'view_emailconfirmation'),
	(208, 'Can add authenticator', 53, 'add_authenticator'),
	(209, 'Can change authenticator', 53, 'change_authenticator'),
	(210, 'Can delete authenticator', 53, 'delete_authenticator'),
	(211, 'Can view authenticator', 53, 'view_authenticator'),
	(212, 'Can add social account', 54, 'add_socialaccount'),
	(213, 'Can change social account', 54, 'change_socialaccount'),
	(214, 'Can delete social account', 54, 'delete_socialaccount'),
	(215, 'Can view social account', 54, 'view_socialaccount'),
	(216, 'Can add social application', 55, 'add_socialapp'),
	(217, 'Can change social application', 55, 'change_socialapp'),
	(218, 'Can delete social application', 55, 'delete_socialapp'),
	(219, 'Can view social application', 55, 'view_socialapp'),
	(220, 'Can add social application token', 56, 'add_socialtoken'),
	(221, 'Can change social application token', 56, 'change_socialtoken'),
	(222, 'Can delete social application token', 56, 'delete_socialtoken'),
	(223, 'Can view social application token', 56, 'view_socialtoken'),
	(224, 'Can add group object permission', 57, 'add_groupobjectpermission'),
	(225, 'Can change group object permission', 57, 'change_groupobjectpermission'),
	(226, 'Can delete group object permission', 57, 'delete_groupobjectpermission'),
	(227, 'Can view group object permission', 57, 'view_groupobjectpermission'),
	(228, 'Can add user object permission', 58, 'add_userobjectpermission'),
	(229, 'Can change user object permission', 58, 'change_userobjectpermission'),
	(230, 'Can delete user object permission', 58, 'delete_userobjectpermission'),
	(231, 'Can view user object permission', 58, 'view_userobjectpermission');

INSERT INTO public.django_content_type VALUES
	(1, 'runs', 'tooldefinition'),
	(2, 'runs', 'workerseen'),
	(3, 'runs', 'agentversion'),
	(4, 'runs', 'run'),
	(5, 'runs', 'payload'),
	(6, 'runs', 'lease'),
	(7, 'runs', 'step'),
	(8, 'runs', 'text'),
	(9, 'runs', 'formerattempt'),
	(10, 'runs', 'attempt'),
	(11, 'approvals', 'approvalrequest'),
	(12, 'approvals', 'asked'),
	(13, 'approvals', 'delegation'),
	(14, 'approvals', 'delivery'),
	(15, 'approvals', 'escalationpolicy'),
	(16, 'approvals', 'policyrule'),
	(17, 'approvals', 'policyversion'),
	(18, 'approvals', 'reassignment'),
	(19, 'approvals', 'requestcomment'),
	(20, 'approvals', 'requestversion'),
	(21, 'approvals', 'review'),
	(22, 'approvals', 'viewing'),
	(23, 'approvals', 'calendar'),
	(24, 'approvals', 'rotation'),
	(25, 'approvals', 'rotationmember'),
	(26, 'approvals', 'rotationoverride'),
	(27, 'approvals', 'wording'),
	(28, 'approvals', 'channelperson'),
	(29, 'approvals', 'noticewish'),
	(30, 'approvals', 'channel'),
	(31, 'approvals', 'callbackseen'),
	(32, 'tenants', 'person'),
	(33, 'tenants', 'tenant'),
	(34, 'tenants', 'audithead'),
	(35, 'tenants', 'auditcontent'),
	(36, 'tenants', 'agentaccess'),
	(37, 'tenants', 'event'),
	(38, 'tenants', 'group'),
	(39, 'tenants', 'idempotentanswer'),
	(40, 'tenants', 'member'),
	(41, 'tenants', 'groupmember'),
	(42, 'tenants', 'apikey'),
	(43, 'tenants', 'secret'),
	(44, 'tenants', 'toolsetting'),
	(45, 'tenants', 'auditentry'),
	(46, 'tenants', 'agentuserpermission'),
	(47, 'auth', 'permission'),
	(48, 'auth', 'group'),
	(49, 'contenttypes', 'contenttype'),
	(50, 'sessions', 'session'),
	(51, 'account', 'emailaddress'),
	(52, 'account', 'emailconfirmation'),
	(53, 'mfa', 'authenticator'),
	(54, 'socialaccount', 'socialaccount'),
	(55, 'socialaccount', 'socialapp'),
	(56, 'socialaccount', 'socialtoken'),
	(57, 'guardian', 'groupobjectpermission'),
	(58, 'guardian', 'userobjectpermission');

INSERT INTO public.django_migrations VALUES
	(1, 'contenttypes', '0001_initial', now()),
	(2, 'contenttypes', '0002_remove_content_type_name', now()),
	(3, 'auth', '0001_initial', now()),
	(4, 'auth', '0002_alter_permission_name_max_length', now()),
	(5, 'auth', '0003_alter_user_email_max_length', now()),
	(6, 'auth', '0004_alter_user_username_opts', now()),
	(7, 'auth', '0005_alter_user_last_login_null', now()),
	(8, 'auth', '0006_require_contenttypes_0002', now()),
	(9, 'auth', '0007_alter_validators_add_error_messages', now()),
	(10, 'auth', '0008_alter_user_username_max_length', now()),
	(11, 'auth', '0009_alter_user_last_name_max_length', now()),
	(12, 'auth', '0010_alter_group_name_max_length', now()),
	(13, 'auth', '0011_update_proxy_permissions', now()),
	(14, 'auth', '0012_alter_user_first_name_max_length', now()),
	(15, 'tenants', '0001_people_agents_keys_and_proof', now()),
	(16, 'account', '0001_initial', now()),
	(17, 'account', '0002_email_max_length', now()),
	(18, 'account', '0003_alter_emailaddress_create_unique_verified_email', now()),
	(19, 'account', '0004_alter_emailaddress_drop_unique_email', now()),
	(20, 'account', '0005_emailaddress_idx_upper_email', now()),
	(21, 'account', '0006_emailaddress_lower', now()),
	(22, 'account', '0007_emailaddress_idx_email', now()),
	(23, 'account', '0008_emailaddress_unique_primary_email_fixup', now()),
	(24, 'account', '0009_emailaddress_unique_primary_email', now()),
	(25, 'tenants', '0002_row_security_and_doors', now()),
	(26, 'tenants', '0003_find_settled_outcomes', now()),
	(27, 'tenants', '0004_actors_in_short', now()),
	(28, 'tenants', '0005_subjects_as_bytes', now()),
	(29, 'tenants', '0006_digests_as_bytes', now()),
	(30, 'tenants', '0007_append_in_one', now()),
	(31, 'tenants', '0008_subjects_in_line', now()),
	(32, 'tenants', '0009_switched_persons_move_stamps', now()),
	(33, 'tenants', '0010_settled_outcomes_by_their_audit', now()),
	(34, 'tenants', '0011_tell_who_hears_events', now()),
	(35, 'approvals', '0001_questions_answers_rules', now()),
	(36, 'approvals', '0002_row_security_states_and_doors', now()),
	(37, 'approvals', '0003_ask_again', now()),
	(38, 'approvals', '0004_what_comes_next', now()),
	(39, 'approvals', '0005_calendars_and_rotations', now()),
	(40, 'approvals', '0006_end_and_climb', now()),
	(41, 'approvals', '0007_due_in_turn', now()),
	(42, 'approvals', '0008_share_what_many_requests_say', now()),
	(43, 'approvals', '0009_lapse_in_one', now()),
	(44, 'approvals', '0010_ways_out', now()),
	(45, 'approvals', '0011_deliveries_by_state_and_channel', now()),
	(46, 'approvals', '0012_fewer_indexes', now()),
	(47, 'approvals', '0013_enter_the_index_of_what_is_due', now()),
	(48, 'approvals', '0014_what_rooms_hear', now()),
	(49, 'approvals', '0015_ask_once_who_hears_events', now()),
	(50, 'approvals', '0016_count_refused_callbacks', now()),
	(51, 'approvals', '0017_count_what_was_given_up', now()),
	(52, 'approvals', '0018_each_way_out_in_turn', now()),
	(53, 'approvals', '0019_many_at_once', now()),
	(54, 'approvals', '0020_answer_in_one', now()),
	(55, 'approvals', '0021_read_what_is_seldom_apart', now()),
	(56, 'approvals', '0022_events_of_an_answer_go_on', now()),
	(57, 'approvals', '0023_statuses_known_by_their_trigger', now()),
	(58, 'approvals', '0024_counts_without_a_check_each', now()),
	(59, 'approvals', '0025_events_that_nobody_hears', now()),
	(60, 'approvals', '0026_find_what_waits_in_its_turn', now()),
	(61, 'approvals', '0027_take_only_messages_one_can_word', now()),
	(62, 'approvals', '0028_find_deliveries_of_a_subject', now()),
	(63, 'approvals', '0029_webhooks_hear_where_events_are_appended', now()),
	(64, 'runs', '0001_tables_of_a_run', now()),
	(65, 'runs', '0002_row_security_states_and_boundaries', now()),
	(66, 'runs', '0003_doors_of_the_sweep', now()),
	(67, 'runs', '0004_purge_what_is_past_its_time', now()),
	(68, 'config', '0001_counts_for_the_metrics', now()),
	(69, 'guardian', '0001_initial', now()),
	(70, 'guardian', '0002_generic_permissions_index', now()),
	(71, 'guardian', '0003_remove_groupobjectpermission_guardian_gr_content_ae6aec_idx_and_more', now()),
	(72, 'mfa', '0001_initial', now()),
	(73, 'mfa', '0002_authenticator_timestamps', now()),
	(74, 'mfa', '0003_authenticator_type_uniq', now()),
	(75, 'runs', '0005_actors_in_short_and_wordings_purged', now()),
	(76, 'runs', '0006_hear_answers_in_one', now()),
	(77, 'runs', '0007_events_in_less_room', now()),
	(78, 'runs', '0008_read_steps_from_the_last_summary', now()),
	(79, 'runs', '0009_blank_by_target', now()),
	(80, 'runs', '0010_boundaries_in_fewer_words', now()),
	(81, 'runs', '0011_read_steps_by_number', now()),
	(82, 'runs', '0012_latest_attempt_in_its_steps_row', now()),
	(83, 'runs', '0013_wake_in_one_update', now()),
	(84, 'runs', '0014_wake_with_what_led_to_it', now()),
	(85, 'runs', '0015_leases_say_what_is_otherwise', now()),
	(86, 'runs', '0016_take_a_run_with_its_record', now()),
	(87, 'runs', '0017_renew_leases_without_waiting', now()),
	(88, 'runs', '0018_take_runs_without_waiting_for_webhooks', now()),
	(89, 'runs', '0019_plan_once', now()),
	(90, 'runs', '0020_find_few_by_their_runs', now()),
	(91, 'runs', '0021_purge_under_each_lock', now()),
	(92, 'runs', '0022_tell_who_hears_where_it_is_not_known', now()),
	(93, 'runs', '0023_end_a_run_in_fewer_looks', now()),
	(94, 'runs', '0024_ask_at_length_where_somebody_hears', now()),
	(95, 'runs', '0025_make_up_for_what_was_at_work', now()),
	(96, 'runs', '0026_refer_to_a_long_result', now()),
	(97, 'sessions', '0001_initial', now()),
	(98, 'socialaccount', '0001_initial', now()),
	(99, 'socialaccount', '0002_token_max_lengths', now()),
	(100, 'socialaccount', '0003_extra_data_default_dict', now());
INSERT INTO public.django_migrations VALUES
	(101, 'socialaccount', '0004_app_provider_id_settings', now()),
	(102, 'socialaccount', '0005_socialtoken_nullable_app', now()),
	(103, 'socialaccount', '0006_alter_socialaccount_extra_data', now());

SELECT pg_catalog.setval('public.account_emailaddress_id_seq', 1, false);

SELECT pg_catalog.setval('public.account_emailconfirmation_id_seq', 1, false);

SELECT pg_catalog.setval('public.auth_group_id_seq', 1, false);

SELECT pg_catalog.setval('public.auth_group_permissions_id_seq', 1, false);

SELECT pg_catalog.setval('public.auth_permission_id_seq', 231, true);

SELECT pg_catalog.setval('public.django_content_type_id_seq', 58, true);

SELECT pg_catalog.setval('public.django_migrations_id_seq', 103, true);

SELECT pg_catalog.setval('public.guardian_groupobjectpermission_id_seq', 1, false);

SELECT pg_catalog.setval('public.guardian_userobjectpermission_id_seq', 1, false);

SELECT pg_catalog.setval('public.mfa_authenticator_id_seq', 1, false);

SELECT pg_catalog.setval('public.runs_agentversion_id_seq', 1, false);

SELECT pg_catalog.setval('public.socialaccount_socialaccount_id_seq', 1, false);

SELECT pg_catalog.setval('public.socialaccount_socialapp_id_seq', 1, false);

SELECT pg_catalog.setval('public.socialaccount_socialtoken_id_seq', 1, false);

ALTER TABLE ONLY public.approvals_callbackseen
    ADD CONSTRAINT a_callback_counts_once UNIQUE (tenant_id, channel_id, message);

ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_email_987c8728_uniq UNIQUE (user_id, email);

ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_key_key UNIQUE (key);

ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.runs_agentversion
    ADD CONSTRAINT agent_version_once UNIQUE (agent, version);

ALTER TABLE ONLY public.approvals_approvalrequest
    ADD CONSTRAINT approvals_approvalrequest_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_approvalrequest
    ADD CONSTRAINT approvals_approvalrequest_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_asked
    ADD CONSTRAINT approvals_asked_pkey PRIMARY KEY (id) WITH (fillfactor='50');

ALTER TABLE ONLY public.approvals_calendar
    ADD CONSTRAINT approvals_calendar_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_calendar
    ADD CONSTRAINT approvals_calendar_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_callbackseen
    ADD CONSTRAINT approvals_callbackseen_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_callbackseen
    ADD CONSTRAINT approvals_callbackseen_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_channel
    ADD CONSTRAINT approvals_channel_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_channel
    ADD CONSTRAINT approvals_channel_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_channelperson
    ADD CONSTRAINT approvals_channelperson_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_channelperson
    ADD CONSTRAINT approvals_channelperson_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_delegation
    ADD CONSTRAINT approvals_delegation_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_delegation
    ADD CONSTRAINT approvals_delegation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_delivery
    ADD CONSTRAINT approvals_delivery_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_delivery
    ADD CONSTRAINT approvals_delivery_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_escalationpolicy
    ADD CONSTRAINT approvals_escalationpolicy_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_escalationpolicy
    ADD CONSTRAINT approvals_escalationpolicy_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_noticewish
    ADD CONSTRAINT approvals_noticewish_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_noticewish
    ADD CONSTRAINT approvals_noticewish_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_policyrule
    ADD CONSTRAINT approvals_policyrule_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_policyrule
    ADD CONSTRAINT approvals_policyrule_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_policyversion
    ADD CONSTRAINT approvals_policyversion_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_policyversion
    ADD CONSTRAINT approvals_policyversion_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_reassignment
    ADD CONSTRAINT approvals_reassignment_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_reassignment
    ADD CONSTRAINT approvals_reassignment_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_requestcomment
    ADD CONSTRAINT approvals_requestcomment_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_requestcomment
    ADD CONSTRAINT approvals_requestcomment_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_requestversion
    ADD CONSTRAINT approvals_requestversion_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_review
    ADD CONSTRAINT approvals_review_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_review
    ADD CONSTRAINT approvals_review_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_rotation
    ADD CONSTRAINT approvals_rotation_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_rotation
    ADD CONSTRAINT approvals_rotation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_rotationmember
    ADD CONSTRAINT approvals_rotationmember_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_rotationmember
    ADD CONSTRAINT approvals_rotationmember_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_rotationoverride
    ADD CONSTRAINT approvals_rotationoverride_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_rotationoverride
    ADD CONSTRAINT approvals_rotationoverride_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_viewing
    ADD CONSTRAINT approvals_viewing_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.approvals_viewing
    ADD CONSTRAINT approvals_viewing_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_wording
    ADD CONSTRAINT approvals_wording_pkey PRIMARY KEY (tenant_id, digest);

ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_name_key UNIQUE (name);

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_permission_id_0cd325b0_uniq UNIQUE (group_id, permission_id);

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_codename_01ab375a_uniq UNIQUE (content_type_id, codename);

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_app_label_model_76bd3d3b_uniq UNIQUE (app_label, model);

ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_migrations
    ADD CONSTRAINT django_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_session
    ADD CONSTRAINT django_session_pkey PRIMARY KEY (session_key);

ALTER TABLE ONLY public.guardian_groupobjectpermission
    ADD CONSTRAINT guardian_groupobjectperm_group_id_permission_id_o_3f189f7c_uniq UNIQUE (group_id, permission_id, object_pk);

ALTER TABLE ONLY public.guardian_groupobjectpermission
    ADD CONSTRAINT guardian_groupobjectpermission_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.guardian_userobjectpermission
    ADD CONSTRAINT guardian_userobjectpermi_user_id_permission_id_ob_b0b3d2fc_uniq UNIQUE (user_id, permission_id, object_pk);

ALTER TABLE ONLY public.guardian_userobjectpermission
    ADD CONSTRAINT guardian_userobjectpermission_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_groupmember
    ADD CONSTRAINT once_in_a_group UNIQUE (tenant_id, group_id, member_id);

ALTER TABLE ONLY public.tenants_agentaccess
    ADD CONSTRAINT one_access_an_agent UNIQUE (tenant_id, agent);

ALTER TABLE ONLY public.tenants_idempotentanswer
    ADD CONSTRAINT one_answer_a_key UNIQUE (tenant_id, actor, method, path, key);

ALTER TABLE ONLY public.approvals_review
    ADD CONSTRAINT one_answer_of_a_kind UNIQUE (tenant_id, request_id, version, member_id, decision);

ALTER TABLE ONLY public.tenants_group
    ADD CONSTRAINT one_group_a_name UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.approvals_channelperson
    ADD CONSTRAINT one_member_a_chat_person UNIQUE (tenant_id, channel_id, external_id);

ALTER TABLE ONLY public.approvals_rotationmember
    ADD CONSTRAINT one_member_a_place_in_rotation UNIQUE (tenant_id, rotation_id, "position");

ALTER TABLE ONLY public.tenants_member
    ADD CONSTRAINT one_membership_a_person UNIQUE (tenant_id, person_id);

ALTER TABLE ONLY public.approvals_policyversion
    ADD CONSTRAINT one_rule_version_a_number UNIQUE (tenant_id, rule_id, number);

ALTER TABLE ONLY public.tenants_secret
    ADD CONSTRAINT one_secret_a_name UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.tenants_toolsetting
    ADD CONSTRAINT one_setting_a_tool UNIQUE (tenant_id, tool);

ALTER TABLE ONLY public.approvals_requestversion
    ADD CONSTRAINT one_version_a_number UNIQUE (tenant_id, request_id, number);

ALTER TABLE ONLY public.approvals_viewing
    ADD CONSTRAINT one_viewing_a_member UNIQUE (tenant_id, request_id, member_id);

ALTER TABLE ONLY public.approvals_noticewish
    ADD CONSTRAINT one_wish_a_member UNIQUE (tenant_id, member_id);

ALTER TABLE ONLY public.runs_agentversion
    ADD CONSTRAINT runs_agentversion_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.runs_formerattempt
    ADD CONSTRAINT runs_attempt_pkey PRIMARY KEY (tenant_id, run_id, seq, number);

ALTER TABLE ONLY public.runs_lease
    ADD CONSTRAINT runs_lease_pkey PRIMARY KEY (tenant_id, run_id);

ALTER TABLE ONLY public.runs_payload
    ADD CONSTRAINT runs_payload_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.runs_payload
    ADD CONSTRAINT runs_payload_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.runs_step
    ADD CONSTRAINT runs_step_pkey PRIMARY KEY (tenant_id, run_id, seq);

ALTER TABLE ONLY public.runs_text
    ADD CONSTRAINT runs_text_pkey PRIMARY KEY (tenant_id, run_id, seq, name);

ALTER TABLE ONLY public.runs_tooldefinition
    ADD CONSTRAINT runs_tooldefinition_pkey PRIMARY KEY (fingerprint);

ALTER TABLE ONLY public.runs_workerseen
    ADD CONSTRAINT runs_workerseen_pkey PRIMARY KEY (worker);

ALTER TABLE ONLY public.socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_socialaccount_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_socialaccount_provider_uid_fc810c6e_uniq UNIQUE (provider, uid);

ALTER TABLE ONLY public.socialaccount_socialapp
    ADD CONSTRAINT socialaccount_socialapp_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_socialtoken_app_id_account_id_fca4e0ac_uniq UNIQUE (app_id, account_id);

ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_socialtoken_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_agentaccess
    ADD CONSTRAINT tenants_agentaccess_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.tenants_agentaccess
    ADD CONSTRAINT tenants_agentaccess_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_agentuserpermission
    ADD CONSTRAINT tenants_agentuserpermiss_tenant_id_user_id_permis_afc66f60_uniq UNIQUE (tenant_id, user_id, permission_id, content_object_id);

ALTER TABLE ONLY public.tenants_agentuserpermission
    ADD CONSTRAINT tenants_agentuserpermission_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_agentuserpermission
    ADD CONSTRAINT tenants_agentuserpermission_tenant_id_id_afaefef4_uniq UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.tenants_apikey
    ADD CONSTRAINT tenants_apikey_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.tenants_apikey
    ADD CONSTRAINT tenants_apikey_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_auditcontent
    ADD CONSTRAINT tenants_auditcontent_pkey PRIMARY KEY (tenant_id, seq);

ALTER TABLE ONLY public.tenants_auditentry
    ADD CONSTRAINT tenants_auditentry_pkey PRIMARY KEY (tenant_id, seq);

ALTER TABLE ONLY public.tenants_audithead
    ADD CONSTRAINT tenants_audithead_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.tenants_event
    ADD CONSTRAINT tenants_event_pkey PRIMARY KEY (tenant_id, subject, seq);

ALTER TABLE ONLY public.tenants_group
    ADD CONSTRAINT tenants_group_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.tenants_group
    ADD CONSTRAINT tenants_group_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_groupmember
    ADD CONSTRAINT tenants_groupmember_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.tenants_groupmember
    ADD CONSTRAINT tenants_groupmember_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_idempotentanswer
    ADD CONSTRAINT tenants_idempotentanswer_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.tenants_idempotentanswer
    ADD CONSTRAINT tenants_idempotentanswer_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_member
    ADD CONSTRAINT tenants_member_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.tenants_member
    ADD CONSTRAINT tenants_member_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_person
    ADD CONSTRAINT tenants_person_email_key UNIQUE (email);

ALTER TABLE ONLY public.tenants_person
    ADD CONSTRAINT tenants_person_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_secret
    ADD CONSTRAINT tenants_secret_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.tenants_secret
    ADD CONSTRAINT tenants_secret_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_tenant
    ADD CONSTRAINT tenants_tenant_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants_tenant
    ADD CONSTRAINT tenants_tenant_slug_key UNIQUE (slug);

ALTER TABLE ONLY public.tenants_toolsetting
    ADD CONSTRAINT tenants_toolsetting_in_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.tenants_toolsetting
    ADD CONSTRAINT tenants_toolsetting_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals_delivery
    ADD CONSTRAINT told_once UNIQUE (tenant_id, key, transport, address);

CREATE INDEX account_emailaddress_email_03be32b2 ON public.account_emailaddress USING btree (email);

CREATE INDEX account_emailaddress_email_03be32b2_like ON public.account_emailaddress USING btree (email varchar_pattern_ops);

CREATE INDEX account_emailaddress_user_id_2c513194 ON public.account_emailaddress USING btree (user_id);

CREATE INDEX account_emailconfirmation_email_address_id_5b7f8c58 ON public.account_emailconfirmation USING btree (email_address_id);

CREATE INDEX account_emailconfirmation_key_f43612bd_like ON public.account_emailconfirmation USING btree (key varchar_pattern_ops);

CREATE INDEX approvals_asked_request_id_d0d46845 ON public.approvals_asked USING btree (request_id) WITH (fillfactor='50');

CREATE INDEX approvals_callbackseen_channel_id_97bd18c4 ON public.approvals_callbackseen USING btree (channel_id);

CREATE INDEX approvals_channel_member_id_c369af09 ON public.approvals_channel USING btree (member_id);

CREATE INDEX approvals_channelperson_channel_id_39547bcb ON public.approvals_channelperson USING btree (channel_id);

CREATE INDEX approvals_channelperson_member_id_f1e1eead ON public.approvals_channelperson USING btree (member_id);

CREATE INDEX approvals_delegation_member_id_880c90c5 ON public.approvals_delegation USING btree (member_id);

CREATE INDEX approvals_delegation_stand_in_id_571bfe69 ON public.approvals_delegation USING btree (stand_in_id);

CREATE INDEX approvals_delivery_channel_id_6c6cd174 ON public.approvals_delivery USING btree (channel_id);

CREATE INDEX approvals_delivery_member_id_b3cf51de ON public.approvals_delivery USING btree (member_id);

CREATE INDEX approvals_delivery_request_id_0350c986 ON public.approvals_delivery USING btree (request_id);

CREATE INDEX approvals_escalationpolicy_calendar_id_689feaec ON public.approvals_escalationpolicy USING btree (calendar_id);

CREATE INDEX approvals_noticewish_member_id_2a299369 ON public.approvals_noticewish USING btree (member_id);

CREATE INDEX approvals_policyversion_rule_id_3efc3677 ON public.approvals_policyversion USING btree (rule_id);

CREATE INDEX approvals_reassignment_after_id_7e6b0d83 ON public.approvals_reassignment USING btree (after_id);

CREATE INDEX approvals_reassignment_before_id_13688be1 ON public.approvals_reassignment USING btree (before_id);

CREATE INDEX approvals_reassignment_request_id_1aaa4898 ON public.approvals_reassignment USING btree (request_id);

CREATE INDEX approvals_requestcomment_member_id_d60842de ON public.approvals_requestcomment USING btree (member_id);

CREATE INDEX approvals_requestcomment_request_id_94032a57 ON public.approvals_requestcomment USING btree (request_id);

CREATE INDEX approvals_requestversion_edited_by_id_41770218 ON public.approvals_requestversion USING btree (edited_by_id);

CREATE INDEX approvals_review_in_place_of_id_ebf18425 ON public.approvals_review USING btree (in_place_of_id);

CREATE INDEX approvals_review_member_id_9e1a37d5 ON public.approvals_review USING btree (member_id);

CREATE INDEX approvals_review_request_id_f898cdff ON public.approvals_review USING btree (request_id);

CREATE INDEX approvals_rotationmember_member_id_d07a6d11 ON public.approvals_rotationmember USING btree (member_id);

CREATE INDEX approvals_rotationmember_rotation_id_5e18da33 ON public.approvals_rotationmember USING btree (rotation_id);

CREATE INDEX approvals_rotationoverride_member_id_3dc5da8e ON public.approvals_rotationoverride USING btree (member_id);

CREATE INDEX approvals_rotationoverride_rotation_id_1edd9b9e ON public.approvals_rotationoverride USING btree (rotation_id);

CREATE INDEX approvals_viewing_member_id_ae90c32b ON public.approvals_viewing USING btree (member_id);

CREATE INDEX approvals_viewing_request_id_697497f8 ON public.approvals_viewing USING btree (request_id);

CREATE INDEX asked_now_of_member ON public.approvals_asked USING btree (member_id, since) WHERE (until IS NULL);

CREATE UNIQUE INDEX asked_once_at_a_time ON public.approvals_asked USING btree (tenant_id, request_id, member_id) WHERE (until IS NULL);

CREATE INDEX audit_by_time ON public.tenants_auditentry USING btree (tenant_id, at);

CREATE INDEX audit_of_a_target ON public.tenants_auditentry USING btree (tenant_id, target, seq);

CREATE INDEX audit_of_an_actor ON public.tenants_auditentry USING btree (tenant_id, actor_id, seq);

CREATE INDEX audit_of_outcomes ON public.tenants_auditentry USING btree (tenant_id, at) WHERE ((action)::text = 'run.settled'::text);

CREATE INDEX auth_group_name_a6ea08ec_like ON public.auth_group USING btree (name varchar_pattern_ops);

CREATE INDEX auth_group_permissions_group_id_b120cbf9 ON public.auth_group_permissions USING btree (group_id);

CREATE INDEX auth_group_permissions_permission_id_84c5c92e ON public.auth_group_permissions USING btree (permission_id);

CREATE INDEX auth_permission_content_type_id_2f476e4b ON public.auth_permission USING btree (content_type_id);

CREATE INDEX callbacks_in_time ON public.approvals_callbackseen USING btree (at);

CREATE INDEX deliveries_due_by_way ON public.approvals_delivery USING btree (channel_id, due_at) WHERE ((status)::text = ANY ((ARRAY['pending'::character varying, 'sending'::character varying])::text[]));

CREATE INDEX deliveries_in_time ON public.approvals_delivery USING btree (tenant_id, created_at DESC, id DESC);

CREATE INDEX deliveries_not_sent ON public.approvals_delivery USING btree (tenant_id, created_at DESC, id DESC) WHERE ((status)::text = ANY ((ARRAY['given_up'::character varying, 'pending'::character varying, 'sending'::character varying])::text[]));

CREATE INDEX deliveries_of_a_channel ON public.approvals_delivery USING btree (tenant_id, channel_id, created_at DESC, id DESC) WHERE (channel_id IS NOT NULL);

CREATE INDEX deliveries_of_a_subject ON public.approvals_delivery USING btree (tenant_id, subject) WHERE (NOT ((subject)::text = ''::text));

CREATE INDEX deliveries_to_forget ON public.approvals_delivery USING btree (created_at) WHERE ((request_id IS NULL) AND ((status)::text = ANY ((ARRAY['sent'::character varying, 'given_up'::character varying])::text[])));

CREATE INDEX deliveries_tried_in_vain ON public.approvals_delivery USING btree (created_at) WHERE ((attempts > 0) AND ((status)::text = 'given_up'::text));

CREATE INDEX django_session_expire_date_a5c62663 ON public.django_session USING btree (expire_date);

CREATE INDEX django_session_session_key_c0390e0f_like ON public.django_session USING btree (session_key varchar_pattern_ops);

CREATE INDEX events_in_time ON public.tenants_event USING brin (at) WITH (autosummarize='on');

CREATE INDEX guardian_gr_group_i_9e7d12_idx ON public.guardian_groupobjectpermission USING btree (group_id, content_type_id, object_pk);

CREATE INDEX guardian_gr_permiss_83545c_idx ON public.guardian_groupobjectpermission USING btree (permission_id, group_id, content_type_id, object_pk);

CREATE INDEX guardian_groupobjectpermission_content_type_id_7ade36b8 ON public.guardian_groupobjectpermission USING btree (content_type_id);

CREATE INDEX guardian_groupobjectpermission_group_id_4bbbfb62 ON public.guardian_groupobjectpermission USING btree (group_id);

CREATE INDEX guardian_groupobjectpermission_permission_id_36572738 ON public.guardian_groupobjectpermission USING btree (permission_id);

CREATE INDEX guardian_us_permiss_e5749c_idx ON public.guardian_userobjectpermission USING btree (permission_id, user_id, content_type_id, object_pk);

CREATE INDEX guardian_us_user_id_8eae14_idx ON public.guardian_userobjectpermission USING btree (user_id, content_type_id, object_pk);

CREATE INDEX guardian_userobjectpermission_content_type_id_2e892405 ON public.guardian_userobjectpermission USING btree (content_type_id);

CREATE INDEX guardian_userobjectpermission_permission_id_71807bfc ON public.guardian_userobjectpermission USING btree (permission_id);

CREATE INDEX guardian_userobjectpermission_user_id_d5c1e964 ON public.guardian_userobjectpermission USING btree (user_id);

CREATE INDEX lease_until ON public.runs_lease USING btree (tenant_id, until) WHERE (until IS NOT NULL);

CREATE INDEX mfa_authenticator_user_id_0c3a50c0 ON public.mfa_authenticator USING btree (user_id);

CREATE UNIQUE INDEX one_calendar_a_name ON public.approvals_calendar USING btree (tenant_id, name) WHERE (archived_at IS NULL);

CREATE UNIQUE INDEX one_channel_a_name ON public.approvals_channel USING btree (tenant_id, name) WHERE ((NOT ((kind)::text = 'webhook'::text)) AND (archived_at IS NULL));

CREATE UNIQUE INDEX one_default_calendar ON public.approvals_calendar USING btree (tenant_id) WHERE is_default;

CREATE UNIQUE INDEX one_default_rule ON public.approvals_policyrule USING btree (tenant_id) WHERE is_default;

CREATE UNIQUE INDEX one_escalation_a_name ON public.approvals_escalationpolicy USING btree (tenant_id, name) WHERE (archived_at IS NULL);

CREATE UNIQUE INDEX one_open_request_a_step ON public.approvals_approvalrequest USING btree (tenant_id, subject, ref) WHERE ((status)::text = 'pending'::text);

CREATE UNIQUE INDEX one_rotation_a_name ON public.approvals_rotation USING btree (tenant_id, name) WHERE (archived_at IS NULL);

CREATE INDEX request_ask_again ON public.approvals_approvalrequest USING btree (tenant_id, asked_stamp) WHERE ((status)::text = 'pending'::text);

CREATE INDEX request_decided ON public.approvals_approvalrequest USING btree (decided_at) WHERE (decided_at IS NOT NULL);

CREATE INDEX request_demanded ON public.approvals_approvalrequest USING btree (tenant_id, requirement_digest);

CREATE INDEX request_due_in_turn ON public.approvals_approvalrequest USING btree (tenant_id, due_at) WHERE ((status)::text = 'pending'::text);

CREATE INDEX request_list ON public.approvals_approvalrequest USING btree (tenant_id, status, opened_at, id);

CREATE INDEX request_of_subject ON public.approvals_approvalrequest USING btree (tenant_id, subject, ref);

CREATE INDEX request_of_tool ON public.approvals_approvalrequest USING btree (tenant_id, tool, opened_at);

CREATE INDEX request_that_supersedes ON public.approvals_approvalrequest USING btree (supersedes_id) WHERE (supersedes_id IS NOT NULL);

CREATE INDEX request_waits_in_turn ON public.approvals_approvalrequest USING btree (tenant_id, next_at, id) WHERE ((status)::text = 'pending'::text);

CREATE INDEX request_worded ON public.approvals_approvalrequest USING btree (tenant_id, definition_digest);

CREATE INDEX run_deadline ON public.runs_run USING btree (tenant_id, deadline) WHERE ((deadline IS NOT NULL) AND (NOT (status = ANY (ARRAY['cancelled'::text, 'failed'::text, 'succeeded'::text]))));

CREATE INDEX run_due ON public.runs_run USING btree (tenant_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX run_finished ON public.runs_run USING btree (tenant_id, finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX run_newest ON public.runs_run USING btree (tenant_id, created_at, id);

CREATE INDEX run_standing ON public.runs_run USING btree (tenant_id, status, created_at) WHERE (NOT (status = ANY (ARRAY['cancelled'::text, 'failed'::text, 'succeeded'::text])));

CREATE INDEX run_unsettled ON public.runs_run USING btree (tenant_id) WHERE unsettled;

CREATE INDEX runs_payload_run_id_7ed0cba7 ON public.runs_payload USING btree (run_id);

CREATE INDEX runs_tooldefinition_fingerprint_49290cc9_like ON public.runs_tooldefinition USING btree (fingerprint text_pattern_ops);

CREATE INDEX runs_tooldefinition_name_7f238ad6 ON public.runs_tooldefinition USING btree (name);

CREATE INDEX runs_tooldefinition_name_7f238ad6_like ON public.runs_tooldefinition USING btree (name text_pattern_ops);

CREATE INDEX runs_workerseen_worker_2bb39f43_like ON public.runs_workerseen USING btree (worker text_pattern_ops);

CREATE INDEX socialaccount_socialaccount_user_id_8146e70c ON public.socialaccount_socialaccount USING btree (user_id);

CREATE INDEX socialaccount_socialtoken_account_id_951f210e ON public.socialaccount_socialtoken USING btree (account_id);

CREATE INDEX socialaccount_socialtoken_app_id_636a42d7 ON public.socialaccount_socialtoken USING btree (app_id);

CREATE INDEX tenants_agentuserpermission_content_object_id_039bafdc ON public.tenants_agentuserpermission USING btree (content_object_id);

CREATE INDEX tenants_agentuserpermission_permission_id_3e4284dc ON public.tenants_agentuserpermission USING btree (permission_id);

CREATE INDEX tenants_agentuserpermission_user_id_b522333e ON public.tenants_agentuserpermission USING btree (user_id);

CREATE INDEX tenants_apikey_owner_id_2686d086 ON public.tenants_apikey USING btree (owner_id);

CREATE INDEX tenants_groupmember_group_id_40cefd20 ON public.tenants_groupmember USING btree (group_id);

CREATE INDEX tenants_groupmember_member_id_44338d49 ON public.tenants_groupmember USING btree (member_id);

CREATE INDEX tenants_member_person_id_4d542d94 ON public.tenants_member USING btree (person_id);

CREATE INDEX tenants_person_email_87548502_like ON public.tenants_person USING btree (email varchar_pattern_ops);

CREATE INDEX tenants_tenant_slug_0a9b71e6_like ON public.tenants_tenant USING btree (slug varchar_pattern_ops);

CREATE UNIQUE INDEX unique_authenticator_type ON public.mfa_authenticator USING btree (user_id, type) WHERE ((type)::text = ANY ((ARRAY['totp'::character varying, 'recovery_codes'::character varying])::text[]));

CREATE UNIQUE INDEX unique_primary_email ON public.account_emailaddress USING btree (user_id, "primary") WHERE "primary";

CREATE UNIQUE INDEX unique_verified_email ON public.account_emailaddress USING btree (email) WHERE verified;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.approvals_policyversion FOR EACH ROW EXECUTE FUNCTION public.append_only('purge');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.approvals_reassignment FOR EACH ROW EXECUTE FUNCTION public.append_only('purge');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.approvals_requestcomment FOR EACH ROW EXECUTE FUNCTION public.append_only('purge');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.approvals_requestversion FOR EACH ROW EXECUTE FUNCTION public.append_only('purge');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.approvals_review FOR EACH ROW EXECUTE FUNCTION public.append_only('purge');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.approvals_wording FOR EACH ROW EXECUTE FUNCTION public.append_only('purge');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.tenants_auditcontent FOR EACH ROW EXECUTE FUNCTION public.append_only('body');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.tenants_auditentry FOR EACH ROW EXECUTE FUNCTION public.append_only('');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.tenants_event FOR EACH ROW EXECUTE FUNCTION public.append_only('purge');

CREATE TRIGGER delivery_states BEFORE INSERT OR UPDATE OF status ON public.approvals_delivery FOR EACH ROW EXECUTE FUNCTION public.delivery_states();

CREATE TRIGGER fixed BEFORE UPDATE OF id ON public.runs_run FOR EACH ROW EXECUTE FUNCTION public.runs_run_fixed();

CREATE TRIGGER fixed BEFORE UPDATE OF kind, seq, run_id ON public.runs_step FOR EACH ROW EXECUTE FUNCTION public.runs_step_fixed();

CREATE TRIGGER kept BEFORE DELETE ON public.runs_run FOR EACH ROW EXECUTE FUNCTION public.runs_run_kept();

CREATE TRIGGER lease_halts AFTER UPDATE OF status ON public.runs_run FOR EACH ROW EXECUTE FUNCTION public.lease_halts();

CREATE TRIGGER lease_heard AFTER INSERT OR UPDATE OF kind, enabled ON public.approvals_channel FOR EACH ROW EXECUTE FUNCTION public.lease_heard();

CREATE TRIGGER request_states BEFORE INSERT OR UPDATE OF status ON public.approvals_approvalrequest FOR EACH ROW EXECUTE FUNCTION public.request_states();

CREATE TRIGGER request_states_frozen BEFORE UPDATE OF tenant_id, subject, ref, tool, tool_title, agent, agent_version, risk, effect, definition, definition_digest, fingerprint, proposed_arguments, rationale, initiators, initiator, labels, run, evidence, precondition, supersedes_id, difference, opened_at, round ON public.approvals_approvalrequest FOR EACH ROW EXECUTE FUNCTION public.request_states_frozen();

CREATE TRIGGER state BEFORE INSERT OR UPDATE ON public.runs_run FOR EACH ROW EXECUTE FUNCTION public.runs_run_state();

CREATE TRIGGER state BEFORE INSERT OR UPDATE ON public.runs_step FOR EACH ROW EXECUTE FUNCTION public.runs_step_state();

CREATE TRIGGER switched AFTER UPDATE OF is_active ON public.tenants_person FOR EACH ROW WHEN ((old.is_active IS DISTINCT FROM new.is_active)) EXECUTE FUNCTION public.person_switched();

ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_2c513194_fk_tenants_person_id FOREIGN KEY (user_id) REFERENCES public.tenants_person(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirm_email_address_id_5b7f8c58_fk_account_e FOREIGN KEY (email_address_id) REFERENCES public.account_emailaddress(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_approvalrequest
    ADD CONSTRAINT approvals_approvalrequest_demanded_ft FOREIGN KEY (tenant_id, requirement_digest) REFERENCES public.approvals_wording(tenant_id, digest) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_approvalrequest
    ADD CONSTRAINT approvals_approvalrequest_supersedes_ft FOREIGN KEY (tenant_id, supersedes_id) REFERENCES public.approvals_approvalrequest(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_approvalrequest
    ADD CONSTRAINT approvals_approvalrequest_worded_ft FOREIGN KEY (tenant_id, definition_digest) REFERENCES public.approvals_wording(tenant_id, digest) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_asked
    ADD CONSTRAINT approvals_asked_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_asked
    ADD CONSTRAINT approvals_asked_request_ft FOREIGN KEY (tenant_id, request_id) REFERENCES public.approvals_approvalrequest(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_callbackseen
    ADD CONSTRAINT approvals_callbackseen_channel_ft FOREIGN KEY (tenant_id, channel_id) REFERENCES public.approvals_channel(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_channel
    ADD CONSTRAINT approvals_channel_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_channelperson
    ADD CONSTRAINT approvals_channelperson_channel_ft FOREIGN KEY (tenant_id, channel_id) REFERENCES public.approvals_channel(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_channelperson
    ADD CONSTRAINT approvals_channelperson_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_delegation
    ADD CONSTRAINT approvals_delegation_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_delegation
    ADD CONSTRAINT approvals_delegation_stand_in_ft FOREIGN KEY (tenant_id, stand_in_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_delivery
    ADD CONSTRAINT approvals_delivery_channel_ft FOREIGN KEY (tenant_id, channel_id) REFERENCES public.approvals_channel(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_delivery
    ADD CONSTRAINT approvals_delivery_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_delivery
    ADD CONSTRAINT approvals_delivery_request_ft FOREIGN KEY (tenant_id, request_id) REFERENCES public.approvals_approvalrequest(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_escalationpolicy
    ADD CONSTRAINT approvals_escalationpolicy_calendar_ft FOREIGN KEY (tenant_id, calendar_id) REFERENCES public.approvals_calendar(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_noticewish
    ADD CONSTRAINT approvals_noticewish_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_policyversion
    ADD CONSTRAINT approvals_policyversion_rule_ft FOREIGN KEY (tenant_id, rule_id) REFERENCES public.approvals_policyrule(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_reassignment
    ADD CONSTRAINT approvals_reassignment_after_ft FOREIGN KEY (tenant_id, after_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_reassignment
    ADD CONSTRAINT approvals_reassignment_before_ft FOREIGN KEY (tenant_id, before_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_reassignment
    ADD CONSTRAINT approvals_reassignment_request_ft FOREIGN KEY (tenant_id, request_id) REFERENCES public.approvals_approvalrequest(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_requestcomment
    ADD CONSTRAINT approvals_requestcomment_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_requestcomment
    ADD CONSTRAINT approvals_requestcomment_request_ft FOREIGN KEY (tenant_id, request_id) REFERENCES public.approvals_approvalrequest(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_requestversion
    ADD CONSTRAINT approvals_requestversion_edited_by_ft FOREIGN KEY (tenant_id, edited_by_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_requestversion
    ADD CONSTRAINT approvals_requestversion_request_ft FOREIGN KEY (tenant_id, request_id) REFERENCES public.approvals_approvalrequest(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_review
    ADD CONSTRAINT approvals_review_in_place_of_ft FOREIGN KEY (tenant_id, in_place_of_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_review
    ADD CONSTRAINT approvals_review_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_review
    ADD CONSTRAINT approvals_review_request_ft FOREIGN KEY (tenant_id, request_id) REFERENCES public.approvals_approvalrequest(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_rotationmember
    ADD CONSTRAINT approvals_rotationmember_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_rotationmember
    ADD CONSTRAINT approvals_rotationmember_rotation_ft FOREIGN KEY (tenant_id, rotation_id) REFERENCES public.approvals_rotation(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_rotationoverride
    ADD CONSTRAINT approvals_rotationoverride_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_rotationoverride
    ADD CONSTRAINT approvals_rotationoverride_rotation_ft FOREIGN KEY (tenant_id, rotation_id) REFERENCES public.approvals_rotation(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_viewing
    ADD CONSTRAINT approvals_viewing_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.approvals_viewing
    ADD CONSTRAINT approvals_viewing_request_ft FOREIGN KEY (tenant_id, request_id) REFERENCES public.approvals_approvalrequest(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissio_permission_id_84c5c92e_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_b120cbf9_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_2f476e4b_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardian_groupobjectpermission
    ADD CONSTRAINT guardian_groupobject_content_type_id_7ade36b8_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardian_groupobjectpermission
    ADD CONSTRAINT guardian_groupobject_group_id_4bbbfb62_fk_auth_grou FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardian_groupobjectpermission
    ADD CONSTRAINT guardian_groupobject_permission_id_36572738_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardian_userobjectpermission
    ADD CONSTRAINT guardian_userobjectp_content_type_id_2e892405_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardian_userobjectpermission
    ADD CONSTRAINT guardian_userobjectp_permission_id_71807bfc_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardian_userobjectpermission
    ADD CONSTRAINT guardian_userobjectp_user_id_d5c1e964_fk_tenants_p FOREIGN KEY (user_id) REFERENCES public.tenants_person(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_user_id_0c3a50c0_fk_tenants_person_id FOREIGN KEY (user_id) REFERENCES public.tenants_person(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_formerattempt
    ADD CONSTRAINT runs_attempt_run_ft FOREIGN KEY (tenant_id, run_id) REFERENCES public.runs_run(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_lease
    ADD CONSTRAINT runs_lease_run_ft FOREIGN KEY (tenant_id, run_id) REFERENCES public.runs_run(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_payload
    ADD CONSTRAINT runs_payload_run_ft FOREIGN KEY (tenant_id, run_id) REFERENCES public.runs_run(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_text
    ADD CONSTRAINT runs_text_run_ft FOREIGN KEY (tenant_id, run_id) REFERENCES public.runs_run(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_social_account_id_951f210e_fk_socialacc FOREIGN KEY (account_id) REFERENCES public.socialaccount_socialaccount(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_social_app_id_636a42d7_fk_socialacc FOREIGN KEY (app_id) REFERENCES public.socialaccount_socialapp(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_social_user_id_8146e70c_fk_tenants_p FOREIGN KEY (user_id) REFERENCES public.tenants_person(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tenants_agentuserpermission
    ADD CONSTRAINT tenants_agentuserper_permission_id_3e4284dc_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tenants_agentuserpermission
    ADD CONSTRAINT tenants_agentuserper_user_id_b522333e_fk_tenants_p FOREIGN KEY (user_id) REFERENCES public.tenants_person(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tenants_agentuserpermission
    ADD CONSTRAINT tenants_agentuserpermission_content_object_ft FOREIGN KEY (tenant_id, content_object_id) REFERENCES public.tenants_agentaccess(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tenants_apikey
    ADD CONSTRAINT tenants_apikey_owner_ft FOREIGN KEY (tenant_id, owner_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tenants_groupmember
    ADD CONSTRAINT tenants_groupmember_group_ft FOREIGN KEY (tenant_id, group_id) REFERENCES public.tenants_group(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tenants_groupmember
    ADD CONSTRAINT tenants_groupmember_member_ft FOREIGN KEY (tenant_id, member_id) REFERENCES public.tenants_member(tenant_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tenants_member
    ADD CONSTRAINT tenants_member_person_id_4d542d94_fk_tenants_person_id FOREIGN KEY (person_id) REFERENCES public.tenants_person(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE public.approvals_approvalrequest ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_asked ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_calendar ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_callbackseen ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_channel ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_channelperson ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_delegation ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_delivery ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_escalationpolicy ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_noticewish ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_policyrule ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_policyversion ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_reassignment ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_requestcomment ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_requestversion ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_review ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_rotation ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_rotationmember ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_rotationoverride ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_viewing ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals_wording ENABLE ROW LEVEL SECURITY;

CREATE POLICY owner ON public.approvals_approvalrequest TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_asked TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_calendar TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_callbackseen TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_channel TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_channelperson TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_delegation TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_delivery TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_escalationpolicy TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_noticewish TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_policyrule TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_policyversion TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_reassignment TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_requestcomment TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_requestversion TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_review TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_rotation TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_rotationmember TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_rotationoverride TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_viewing TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals_wording TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.runs_formerattempt TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.runs_lease TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.runs_payload TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.runs_run TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.runs_step TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.runs_text TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_agentaccess TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_agentuserpermission TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_apikey TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_auditcontent TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_auditentry TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_audithead TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_event TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_group TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_groupmember TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_idempotentanswer TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_member TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_secret TO vermilion_owner USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants_toolsetting TO vermilion_owner USING (true) WITH CHECK (true);

ALTER TABLE public.runs_formerattempt ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.runs_lease ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.runs_payload ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.runs_run ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.runs_step ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.runs_text ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant ON public.approvals_approvalrequest USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_asked USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_calendar USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_callbackseen USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_channel USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_channelperson USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_delegation USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_delivery USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_escalationpolicy USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_noticewish USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_policyrule USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_policyversion USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_reassignment USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_requestcomment USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_requestversion USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_review USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_rotation USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_rotationmember USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_rotationoverride USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_viewing USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.approvals_wording USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.runs_formerattempt USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.runs_lease USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.runs_payload USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.runs_run USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.runs_step USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.runs_text USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_agentaccess USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_agentuserpermission USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_apikey USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_auditcontent USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_auditentry USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_audithead USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_event USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_group USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_groupmember USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_idempotentanswer USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_member USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_secret USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

CREATE POLICY tenant ON public.tenants_toolsetting USING ((tenant_id = ( SELECT public.app_tenant() AS app_tenant))) WITH CHECK ((tenant_id = ( SELECT public.app_tenant() AS app_tenant)));

ALTER TABLE public.tenants_agentaccess ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_agentuserpermission ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_apikey ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_auditcontent ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_auditentry ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_audithead ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_event ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_group ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_groupmember ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_idempotentanswer ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_member ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_secret ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants_toolsetting ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA public TO vermilion_app;

REVOKE ALL ON FUNCTION public.audit_blank(p_tenant uuid, p_before timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_blank(p_tenant uuid, p_before timestamp with time zone) TO vermilion_app;

REVOKE ALL ON FUNCTION public.count_all() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_all() TO vermilion_app;

REVOKE ALL ON FUNCTION public.count_given_up() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_given_up() TO vermilion_app;

REVOKE ALL ON FUNCTION public.due_answers(n integer, since interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_answers(n integer, since interval) TO vermilion_app;

REVOKE ALL ON FUNCTION public.due_deadlines(n integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_deadlines(n integer) TO vermilion_app;

REVOKE ALL ON FUNCTION public.due_deliveries(n integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_deliveries(n integer) TO vermilion_app;

REVOKE ALL ON FUNCTION public.due_leases(n integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_leases(n integer) TO vermilion_app;

REVOKE ALL ON FUNCTION public.due_messages(n integer, kinds text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_messages(n integer, kinds text[]) TO vermilion_app;

REVOKE ALL ON FUNCTION public.due_parcels(n integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_parcels(n integer) TO vermilion_app;

REVOKE ALL ON FUNCTION public.due_requests(n integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_requests(n integer) TO vermilion_app;

REVOKE ALL ON FUNCTION public.due_runs(n integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_runs(n integer) TO vermilion_app;

REVOKE ALL ON FUNCTION public.forget_answers(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_answers(p_limit integer) TO vermilion_app;

REVOKE ALL ON FUNCTION public.forget_deliveries(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_deliveries(p_limit integer) TO vermilion_app;

REVOKE ALL ON FUNCTION public.memberships(p_person uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.memberships(p_person uuid) TO vermilion_app;

REVOKE ALL ON FUNCTION public.purge(p_tenant uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge(p_tenant uuid, p_limit integer) TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account_emailaddress TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.account_emailaddress_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account_emailconfirmation TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.account_emailconfirmation_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_approvalrequest TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_asked TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_calendar TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_callbackseen TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_channel TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_channelperson TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_delegation TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_delivery TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_escalationpolicy TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_noticewish TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_policyrule TO vermilion_app;

GRANT SELECT,INSERT ON TABLE public.approvals_policyversion TO vermilion_app;

GRANT SELECT,INSERT ON TABLE public.approvals_reassignment TO vermilion_app;

GRANT SELECT,INSERT ON TABLE public.approvals_requestcomment TO vermilion_app;

GRANT SELECT,INSERT ON TABLE public.approvals_requestversion TO vermilion_app;

GRANT SELECT,INSERT ON TABLE public.approvals_review TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_rotation TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_rotationmember TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_rotationoverride TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals_viewing TO vermilion_app;

GRANT SELECT,INSERT ON TABLE public.approvals_wording TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_group TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.auth_group_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_group_permissions TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.auth_group_permissions_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_permission TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.auth_permission_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.django_content_type TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.django_content_type_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.django_migrations TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.django_migrations_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.django_session TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guardian_groupobjectpermission TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.guardian_groupobjectpermission_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guardian_userobjectpermission TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.guardian_userobjectpermission_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mfa_authenticator TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.mfa_authenticator_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_agentversion TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.runs_agentversion_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_formerattempt TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_step TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_attempt TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_lease TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_payload TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_run TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_text TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_tooldefinition TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_workerseen TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.socialaccount_socialaccount TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.socialaccount_socialaccount_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.socialaccount_socialapp TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.socialaccount_socialapp_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.socialaccount_socialtoken TO vermilion_app;

GRANT SELECT,USAGE ON SEQUENCE public.socialaccount_socialtoken_id_seq TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_agentaccess TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_agentuserpermission TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_apikey TO vermilion_app;

GRANT SELECT,INSERT ON TABLE public.tenants_auditcontent TO vermilion_app;

GRANT SELECT,INSERT ON TABLE public.tenants_auditentry TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_audithead TO vermilion_app;

GRANT SELECT,INSERT ON TABLE public.tenants_event TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_group TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_groupmember TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_idempotentanswer TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_member TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_person TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_secret TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_tenant TO vermilion_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants_toolsetting TO vermilion_app;

ALTER DEFAULT PRIVILEGES FOR ROLE vermilion_owner GRANT SELECT,USAGE ON SEQUENCES TO vermilion_app;

ALTER DEFAULT PRIVILEGES FOR ROLE vermilion_owner GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES TO vermilion_app;
