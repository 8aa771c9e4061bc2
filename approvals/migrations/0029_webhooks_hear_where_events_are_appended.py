"""Let webhooks hear of events from whoever appends them.

Until the last function that does not say so is replaced, the trigger of the release before tells them too: once.
"""

from typing import ClassVar

from django.db import migrations

# Nearly always nobody hears; then the events themselves are not looked at.
HEAR = """
CREATE OR REPLACE FUNCTION events_appended(p_tenant uuid, p_subject bytea, p_first bigint, p_last bigint) RETURNS void
LANGUAGE plpgsql SECURITY INVOKER AS $$
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
END $$
"""
ANSWER = """
-- One person's answer to one version with its event and, where `p_status` is given, the end it brings with the event of
-- that. The number of the last event; without a message for the first the events are the caller's, and it is NULL. The
-- lock is held.
CREATE OR REPLACE FUNCTION request_answer(
    p_tenant uuid, p_request uuid, p_subject text, p_id uuid, p_member uuid, p_in_place_of uuid, p_version integer,
    p_decision text, p_comment text, p_response text, p_channel text, p_actor jsonb, p_at timestamptz, p_message text,
    p_data jsonb, p_status text, p_end_decision text, p_end_comment text, p_end_response text, p_event text,
    p_end_message text, p_end_data jsonb
) RETURNS bigint LANGUAGE plpgsql SECURITY INVOKER AS $$
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
END $$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("approvals", "0028_find_deliveries_of_a_subject"),
        ("tenants", "0011_tell_who_hears_events"),
    ]

    operations: ClassVar = [migrations.RunSQL([(each, None) for each in (HEAR, ANSWER)], migrations.RunSQL.noop)]
