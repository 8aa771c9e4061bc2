-- Doors across tenants, of the owner: ids alone, by turns of the tenants, nothing locked. Each is handled alone, under
-- its own lock, and read again. One probe of an index a tenant, so that nothing due costs nothing.

CREATE FUNCTION due_runs(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
    SELECT r.tenant_id, r.id
      FROM public.tenants_tenant t
     CROSS JOIN LATERAL (
           SELECT x.tenant_id, x.id, x.due_at, row_number() OVER (ORDER BY x.due_at) AS turn
             FROM (SELECT y.tenant_id, y.id, y.due_at FROM public.runs_run y
                    WHERE y.tenant_id = t.id AND y.due_at <= now()
                    ORDER BY y.due_at LIMIT n) AS x) AS r
     ORDER BY r.turn, r.due_at LIMIT n
$$;

CREATE FUNCTION due_deadlines(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
    SELECT r.tenant_id, r.id
      FROM public.tenants_tenant t
     CROSS JOIN LATERAL (
           SELECT y.tenant_id, y.id, y.deadline FROM public.runs_run y
            WHERE y.tenant_id = t.id AND y.deadline <= now() AND y.status NOT IN ('cancelled', 'failed', 'succeeded')
            ORDER BY y.deadline LIMIT n) AS r
     ORDER BY r.deadline LIMIT n
$$;

-- Leases that lapsed while their run was running, or finished with something in the holder's hand.
CREATE FUNCTION due_leases(n int) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
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

-- Parked runs whose people have answered: a planned step whose latest request is not pending. The receiver queues them in
-- the transaction of the answer; this finds what it missed, by when the answer was given.
CREATE FUNCTION due_answers(n int, since interval) RETURNS TABLE (tenant uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
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
$$;
