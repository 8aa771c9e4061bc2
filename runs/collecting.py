"""Large values that nothing uses leave storage: a crash between two writes is what makes them."""

import logging
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from uuid import UUID

from django.db import connection

from runs import payloads
from runs.models import Payload
from runs.storage import storage
from tenants import ids
from tenants.models import Tenant
from tenants.scope import scope

logger = logging.getLogger(__name__)
BATCH = 500
YOUNG = timedelta(days=1)
"""What is younger may belong to a call that is still out."""
LOOKED_AT = timedelta(days=3)
"""A value that was in use at this age is kept as long as its run."""

UNUSED = """
SELECT p.id, p.run_id, p.location FROM runs_payload p
 WHERE p.tenant_id = %s AND p.created_at BETWEEN now() - make_interval(secs => %s) AND now() - make_interval(secs => %s)
   AND NOT EXISTS (SELECT FROM runs_step s WHERE s.tenant_id = p.tenant_id AND s.run_id = p.run_id
                   AND (s.payloads::text LIKE '%%' || p.id || '%%' OR s.result LIKE '%%' || p.id || '%%'
                        OR s.proposed LIKE '%%' || p.id || '%%'))
   AND NOT EXISTS (SELECT FROM runs_text t WHERE t.tenant_id = p.tenant_id AND t.run_id = p.run_id
                   AND (t.payload = p.id OR t.body LIKE '%%' || p.id || '%%'))
   AND NOT EXISTS (SELECT FROM runs_lease l WHERE l.tenant_id = p.tenant_id AND l.run_id = p.run_id AND l.until > now())
"""


def collect_all() -> int:
    """Collect for every tenant; how many values left."""
    return sum(_collect(tenant) for tenant in Tenant.objects.values_list("pk", flat=True))


def _collect(tenant: UUID) -> int:
    try:
        return rows(tenant) + files(tenant)
    except Exception:
        logger.exception("Large values of tenant %s could not be collected; the next round tries again.", tenant)
        return 0


def rows(tenant: UUID) -> int:
    """Values that no step names: a call was lost between storing one and its result. How many left."""
    with scope(tenant, read_only=True), connection.cursor() as cursor:
        cursor.execute(UNUSED, [tenant, LOOKED_AT.total_seconds(), YOUNG.total_seconds()])
        found = cursor.fetchall()
    unused = [(payload, location) for payload, run, location in found if not _named(payload, run, tenant)]
    for payload, location in unused:
        payloads.forget(location)  # First: a crash after it leaves a row that the next round finds again.
        with scope(tenant):
            Payload.objects.filter(pk=payload).delete()
    return len(unused)


def _named(payload: UUID, run: UUID, tenant: UUID) -> bool:
    """Whether another large value of the run names this one; a long result lies in storage itself."""
    with scope(tenant, read_only=True):
        others = list(Payload.objects.filter(run_id=run, media_type="application/json").exclude(pk=payload))
    return any(str(payload).encode() in _content(each) for each in others)


def _content(row: Payload) -> bytes:
    try:
        with payloads.content_of(row) as content:
            return content.read()
    except payloads.Missing:
        return b""


def files(tenant: UUID) -> int:
    """Contents without a row: a process was lost between the two. How many left."""
    gone = 0
    names = _old(storage().names(str(tenant)))
    while batch := list(islice(names, BATCH)):
        for name in _without_row(tenant, batch):
            payloads.forget(name)
            gone += 1
    return gone


def _old(names: Iterable[tuple[str, datetime]]) -> Iterator[str]:
    until = datetime.now(UTC) - YOUNG
    return (name for name, written in names if written < until)


def _without_row(tenant: UUID, names: Iterable[str]) -> list[str]:
    keys = {name: ids.parse(name.rpartition("/")[2]) for name in names}
    with scope(tenant, read_only=True):
        known = set(Payload.objects.filter(pk__in=[key for key in keys.values() if key]).values_list("pk", flat=True))
    return [name for name, key in keys.items() if key not in known]
