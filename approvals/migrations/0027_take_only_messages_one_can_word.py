"""Let a process take only messages whose kind it knows: one of the release before told managers of an unknown outcome
that a channel had been switched off, for that was all it had words for where no request was."""

from typing import ClassVar

from django.db import migrations

from tenants.rls import OwnerFunction

# The ways out that something waits for are found one after the other by the index, never by reading what waits. What goes
# to a webhook is an event, which needs no words.
DUE_MESSAGES = """
CREATE FUNCTION due_messages(n int, kinds text[]) RETURNS TABLE (tenant uuid, id uuid, lane text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
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
$$
"""
# What releases that ask by this one have words for.
DUE_PARCELS = """
CREATE OR REPLACE FUNCTION due_parcels(n int) RETURNS TABLE (tenant uuid, id uuid, lane text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 100 AS $$
  SELECT m.tenant, m.id, m.lane FROM public.due_messages(n, ARRAY[
    'asked', 'asked_again', 'closing_soon', 'vote_lapsed', 'ended', 'nobody_left', 'not_evaluable', 'channel_off', 'test',
    'decided']) m
$$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("approvals", "0026_find_what_waits_in_its_turn")]

    operations: ClassVar = [
        OwnerFunction("due_messages(int, text[])", DUE_MESSAGES),
        migrations.RunSQL(DUE_PARCELS, migrations.RunSQL.noop),
    ]
