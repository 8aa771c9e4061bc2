"""Leave an answer's events to whoever has one more to write, and look for chat channels beside the end of a request."""

from typing import ClassVar

from django.db import migrations

FINISH = """
-- The one writer of a pending request's end: its row, the end of all asking, and who is told of it. The event is the
-- caller's. The lock is held. Whether there is any chat channel to tell is seen beside the row: nearly never.
CREATE OR REPLACE FUNCTION request_finish(
    p_tenant uuid, p_request uuid, p_status text, p_decision text, p_comment text, p_response text, p_actor jsonb,
    p_at timestamptz
) RETURNS text LANGUAGE plpgsql SECURITY INVOKER AS $$
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
    RETURN v_last + CASE WHEN p_status IS NULL THEN 1 ELSE 2 END;
END $$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("approvals", "0021_read_what_is_seldom_apart"),
        ("tenants", "0008_subjects_in_line"),
    ]

    operations: ClassVar = [migrations.RunSQL([(each, None) for each in (FINISH, ANSWER)], migrations.RunSQL.noop)]
