"""Finished runs past their tenant's retention leave, with all that is theirs; the audit stays, blanked."""

import logging
from uuid import UUID

from django.db import connection

from runs import payloads
from tenants import audit
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tenants.scope import scope

logger = logging.getLogger(__name__)
BATCH = 50


def purge_all() -> int:
    """Purge every tenant until nothing of it is past its time; how many runs left."""
    return sum(_purge_whole(tenant) for tenant in Tenant.objects.values_list("pk", flat=True))


def purge(tenant: UUID, limit: int = BATCH) -> int:
    """Purge at most `limit` runs of one tenant in one transaction, then their files; how many runs left."""
    with scope(tenant):
        with connection.cursor() as cursor:
            cursor.execute("SELECT purged, locations FROM purge(%s::uuid, %s)", (str(tenant), limit))
            found = cursor.fetchall()
        if found:
            audit.record("runs.purged", actor=SYSTEM, target=f"tenant:{tenant}", detail={"runs": len(found)})
    # A crash before this leaves files that nothing refers to, never a reference to a file that is gone.
    for _run, locations in found:
        for location in locations:
            payloads.forget(location)
    return len(found)


def _purge_whole(tenant: UUID) -> int:
    gone = 0
    try:
        while (batch := purge(tenant)) > 0:
            gone += batch
    except Exception:
        logger.exception("Runs of tenant %s could not be purged; the next round tries again.", tenant)
    return gone
