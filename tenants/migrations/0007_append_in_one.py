"""Append to the audit in one statement that needs no look before it, and read a subject without a pattern."""

from typing import ClassVar

from django.db import migrations

# A pattern took as long as the rest of an event.
SUBJECT = r"""
CREATE OR REPLACE FUNCTION subject_bytes(p_subject text) RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF p_subject LIKE 'run:________-____-____-____-____________'
     AND translate(substr(p_subject, 5), '0123456789abcdef', '') = '----' THEN
    RETURN '\x01'::bytea || uuid_send(substr(p_subject, 5)::uuid);
  END IF;
  RETURN '\x00'::bytea || convert_to(p_subject, 'UTF8');
END $$
"""

SUBJECT_BEFORE = r"""
CREATE OR REPLACE FUNCTION subject_bytes(p_subject text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_subject ~ '^run:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    THEN subject_of_run(substr(p_subject, 5)::uuid) ELSE '\x00'::bytea || convert_to(p_subject, 'UTF8') END
$$
"""

APPEND = """
-- The entry after the one that was read as the last; a serialization failure where another has followed that meanwhile.
-- The head is taken first and kept to the end of the transaction.
CREATE FUNCTION audit_append(
  p_tenant uuid, p_seq bigint, p_at timestamptz, p_actor_kind text, p_actor_id text, p_action text, p_target text,
  p_refused boolean, p_channel text, p_content_digest text, p_previous text, p_digest text, p_signature text, p_body text
) RETURNS void LANGUAGE plpgsql SECURITY INVOKER AS $$
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
END $$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tenants", "0006_digests_as_bytes")]

    operations: ClassVar = [
        migrations.RunSQL([(SUBJECT, None)], [(SUBJECT_BEFORE, None)]),
        migrations.RunSQL([(APPEND, None)], "DROP FUNCTION audit_append"),
    ]
