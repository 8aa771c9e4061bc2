"""An answer in one statement: the vote, the end it brings, who is told, and both events together."""

from typing import ClassVar

from django.db import migrations

from approvals import states
from approvals.models import FROZEN
from tenants.tables import TakeTables

FOLLOW = """
-- Let the chat channels that were told of the request hear once that it has ended: no service takes a message back.
-- `p_by` is the member who ended it, whose own channels need not hear it.
CREATE FUNCTION request_follow(p_tenant uuid, p_request uuid, p_by uuid) RETURNS void
LANGUAGE plpgsql SECURITY INVOKER AS $$
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
END $$
"""

FINISH = """
-- The one writer of a pending request's end: its row, the end of all asking, and who is told of it. The event is the
-- caller's. The lock is held.
CREATE FUNCTION request_finish(
    p_tenant uuid, p_request uuid, p_status text, p_decision text, p_comment text, p_response text, p_actor jsonb,
    p_at timestamptz
) RETURNS text LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_subject text;
BEGIN
    UPDATE approvals_approvalrequest r
       SET status = p_status, decision = p_decision, comment = p_comment, response = p_response, decided_at = p_at,
           decided_by = p_actor, due_at = NULL
     WHERE r.tenant_id = p_tenant AND r.id = p_request AND r.status = 'pending'
 RETURNING r.subject INTO v_subject;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'request % is not pending', p_request USING ERRCODE = 'check_violation';
    END IF;
    UPDATE approvals_asked a SET until = p_at
     WHERE a.tenant_id = p_tenant AND a.request_id = p_request AND a.until IS NULL;
    PERFORM request_follow(p_tenant, p_request, (p_actor->>3)::uuid);
    RETURN v_subject;
END $$
"""

END = """
-- The end of a pending request with its event. The lock is held.
CREATE OR REPLACE FUNCTION request_end(
    p_tenant uuid, p_request uuid, p_status text, p_decision text, p_comment text, p_response text, p_actor jsonb,
    p_at timestamptz, p_event text, p_message text, p_data jsonb
) RETURNS bigint LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    RETURN event_append(
        p_tenant, request_finish(p_tenant, p_request, p_status, p_decision, p_comment, p_response, p_actor, p_at), p_event,
        p_actor, p_message, p_data);
END $$
"""

ANSWER = """
-- One person's answer to one version with its event and, where `p_status` is given, the end it brings with the event of
-- that. The number of the last event. The lock is held.
CREATE FUNCTION request_answer(
    p_tenant uuid, p_request uuid, p_subject text, p_id uuid, p_member uuid, p_in_place_of uuid, p_version integer,
    p_decision text, p_comment text, p_response text, p_channel text, p_actor jsonb, p_at timestamptz, p_message text,
    p_data jsonb, p_status text, p_end_decision text, p_end_comment text, p_end_response text, p_event text,
    p_end_message text, p_end_data jsonb
) RETURNS bigint LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    v_subject bytea := subject_bytes(p_subject);
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

REQUEST = {"relation": "approvals_approvalrequest", "name": "request_states"}
DELIVERY = {"relation": "approvals_delivery", "name": "delivery_states"}


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("approvals", "0019_many_at_once"),
        ("tenants", "0007_append_in_one"),
    ]

    operations: ClassVar = [
        TakeTables("approvals_approvalrequest", "approvals_delivery", "approvals_asked"),
        migrations.RunSQL([(each, None) for each in (FOLLOW, FINISH, END, ANSWER)], migrations.RunSQL.noop),
        migrations.RunSQL(states.drop_sql(**REQUEST), migrations.RunSQL.noop),
        migrations.RunSQL(states.triggers_sql(**REQUEST, table=states.REQUEST, frozen=FROZEN), migrations.RunSQL.noop),
        migrations.RunSQL(states.drop_sql(**DELIVERY), migrations.RunSQL.noop),
        migrations.RunSQL(states.triggers_sql(**DELIVERY, table=states.DELIVERY), migrations.RunSQL.noop),
        # Each row is written once more, when the asking ends: leave the room, and no page is searched for what is dead.
        migrations.RunSQL(
            [
                ("ALTER INDEX approvals_asked_pkey SET (fillfactor = 50)", None),
                ("ALTER INDEX approvals_asked_request_id_d0d46845 SET (fillfactor = 50)", None),
            ],
            migrations.RunSQL.noop,
        ),
    ]
