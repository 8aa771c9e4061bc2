"""Take a run up in one round trip: its lease, its journal, its requests and who answered them."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from psycopg.pq.abc import PGresult

from runs import gate, leases, reading, telling
from runs.entries import Journal
from runs.gate import Look
from runs.leases import Lease
from tenants import prepared


@dataclass(frozen=True)
class Begun:
    """A lease that was granted, and what was read after it, still to be looked into."""

    lease: Lease
    run: PGresult
    steps: PGresult
    requests: PGresult
    people: PGresult

    def journal(self) -> Journal:
        """The run and its steps."""
        return reading.told(self.lease.tenant, self.lease.run, self.run, self.steps)

    def look(self) -> Look:
        """What is settled, the run's requests and the database's time."""
        return gate.seen(self.lease.tenant, self.requests, self.people)


def begin(tenant: UUID, run: UUID, *, worker: str, knows: Collection[str]) -> Begun | None:
    """Acquire the lease, as `leases.acquire` does, and read what the first plan needs. None: it was not granted."""
    before = time.monotonic()
    asked = leases.question(tenant, run, worker=worker, knows=knows)
    answers = prepared.together(
        [[asked], [*gate.questions(tenant, telling.subject(run)), *reading.questions(tenant, run)]]
    )
    granted, _entered, requests, people, row, steps = answers
    lease = leases.told(tenant, run, prepared.read(granted, tuple)[0], worker=worker, since=before)
    return Begun(lease, row, steps, requests, people) if lease else None
