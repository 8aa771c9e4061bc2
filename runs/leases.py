"""The right of one worker to advance a run for a while; its clock is the database's."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings

from runs import bells, renewal
from tenants import actors, broker, exact_json, live, prepared

_TAKE = prepared.statement("run_take", "uuid uuid text float8 text[] jsonb")
_RELEASE = prepared.statement("lease_release", "uuid uuid bigint")


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as it was granted to this process."""

    tenant: UUID
    run: UUID
    fence: int
    worker: str
    agent: str
    version: str

    def remaining(self) -> float:
        """Seconds for which it is certainly still held, counted from before the last renewal; may be negative."""
        return renewal.known_until(renewal.Key(self.tenant, self.run, self.fence)) - time.monotonic()


def acquire(tenant: UUID, run: UUID, *, worker: str, knows: Collection[str]) -> Lease | None:
    """Take a queued run: `running`, `run.started`, a higher fence, one commit; renewed by this process until `release`.

    None: it is not queued, or held, past its deadline, or its version is not among `knows` (each `agent@version`). A
    finished run is granted too, unchanged, where a lost holder left an open attempt; then only a lookup may be opened.
    """
    before = time.monotonic()
    row = prepared.one(*question(tenant, run, worker=worker, knows=knows))
    return told(tenant, run, row, worker=worker, since=before)


def question(tenant: UUID, run: UUID, *, worker: str, knows: Collection[str]) -> prepared.Question:
    """What asks for the lease, as `acquire` does; from its fourth value on the answer is the run for `reading.told`."""
    actor = exact_json.dumps(actors.worker(worker).packed())
    return _TAKE, (str(tenant), str(run), worker, str(settings.LEASE_SECONDS), list(knows), actor)


def told(tenant: UUID, run: UUID, row: Sequence[Any], *, worker: str, since: float) -> Lease | None:
    """The lease, if the answer to `question` grants it; it was asked at this monotonic time or later."""
    code, fence, started, agent, version = row[:5]
    if code != "ok":
        return None
    renewal.keep(renewal.Key(tenant, run, fence), until=since + settings.LEASE_SECONDS)
    if started:
        live.ring_now(f"run:{run}", started, tenant=tenant)
        live.ring_now(bells.RUNS, bells.number(), tenant=tenant)
    return Lease(tenant, run, fence, worker, agent, version)


def release(lease: Lease) -> None:
    """Stop renewing and give the row up, if it is still ours. A door that stopped the run has done so already."""
    if not renewal.forget(renewal.Key(lease.tenant, lease.run, lease.fence)):
        return
    (status,) = prepared.one(_RELEASE, (str(lease.tenant), str(lease.run), str(lease.fence)))
    if status == "queued":
        broker.publish("runs.tasks.advance", lease.tenant, lease.run)  # Resumed while this worker had a call in hand.


def stopped(lease: Lease) -> None:
    """The lease ended in the transaction that stopped the run: renew it no more."""
    renewal.forget(renewal.Key(lease.tenant, lease.run, lease.fence))
