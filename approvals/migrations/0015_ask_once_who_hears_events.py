"""Ask once for all events of a statement whether a webhook hears them, not once an event."""

from typing import ClassVar

from django.db import migrations

# Nearly always nobody does; then the events themselves are not looked at. Row security says whose channels are seen.
EVENTS_TO_WEBHOOKS = """
CREATE FUNCTION events_to_webhooks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM approvals_channel c WHERE c.kind = 'webhook' AND c.enabled) THEN
    RETURN NULL;
  END IF;
  INSERT INTO approvals_delivery (
    id, tenant_id, request_id, channel_id, kind, key, transport, address, status, attempts, due_at, error, subject, seq
  )
  SELECT gen_random_uuid(), e.tenant_id,
    CASE WHEN e.name LIKE 'approval.%' THEN (e.data ->> 'request')::uuid END,
    c.id, e.name, 'event:' || subject_text(e.subject) || ':' || e.seq, 'webhook', c.id::text, 'pending', 0,
    clock_timestamp(), '', subject_text(e.subject), e.seq
  FROM appended e
  JOIN approvals_channel c ON c.tenant_id = e.tenant_id
  WHERE c.kind = 'webhook' AND c.enabled AND c.archived_at IS NULL AND e.name = ANY (c.events);
  RETURN NULL;
END $$;
DROP TRIGGER event_to_webhooks ON tenants_event;
CREATE TRIGGER events_to_webhooks AFTER INSERT ON tenants_event REFERENCING NEW TABLE AS appended
  FOR EACH STATEMENT EXECUTE FUNCTION events_to_webhooks()
"""
AS_BEFORE = """
DROP FUNCTION events_to_webhooks() CASCADE;
CREATE TRIGGER event_to_webhooks AFTER INSERT ON tenants_event FOR EACH ROW EXECUTE FUNCTION event_to_webhooks()
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0014_what_rooms_hear")]

    operations: ClassVar = [migrations.RunSQL(EVENTS_TO_WEBHOOKS, AS_BEFORE)]
