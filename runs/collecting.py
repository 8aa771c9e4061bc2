"""Large values that nothing uses leave storage: a crash between two writes is what makes them.

Whether one may still be about to be used is asked of the database alone: no host's clock is compared with another's.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import NamedTuple
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


LOST = """
SELECT k.name FROM unnest(%(names)s::text[], %(runs)s::uuid[], %(payloads)s::uuid[]) AS k (name, run, payload)
 WHERE NOT EXISTS (SELECT FROM runs_payload p WHERE p.tenant_id = %(tenant)s AND p.id = k.payload)
   AND NOT EXISTS (SELECT FROM runs_lease l WHERE l.tenant_id = %(tenant)s AND l.run_id = k.run AND l.until > now())
"""
"""One look, so that a holder who gave its row and then its lease is seen with both."""


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
    """Contents without a row, of runs that nobody holds: a process was lost between the two. How many left.

    Only a run's holder stores, and one whose lease is over can record nothing: what it has not recorded by now, it
    never will.
    """
    gone = 0
    found = _found(storage().names(str(tenant)))
    while batch := list(islice(found, BATCH)):
        for name in _lost(tenant, batch):
            payloads.forget(name)
            gone += 1
    return gone


class _Found(NamedTuple):
    """What lies in storage, and whose its name says it is; `payload` is None for half a file."""

    name: str
    run: UUID
    payload: UUID | None


def _found(names: Iterable[str]) -> Iterator[_Found]:
    for name in names:
        _, _, rest = name.partition("/")
        run, _, key = rest.partition("/")
        if whose := ids.parse(run):  # Any other name is none that we gave.
            yield _Found(name, whose, ids.parse(key))


def _lost(tenant: UUID, found: Sequence[_Found]) -> list[str]:
    names, runs, kept = zip(*found, strict=True)
    with scope(tenant, read_only=True), connection.cursor() as cursor:
        cursor.execute(LOST, {"tenant": tenant, "names": list(names), "runs": list(runs), "payloads": list(kept)})
        return [name for (name,) in cursor.fetchall()]
