CREATE FUNCTION purge(p_tenant uuid, p_limit int) RETURNS TABLE (purged uuid, locations text[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
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
$$
