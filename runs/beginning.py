"""Take a run up in one round trip and one transaction: its lease, its journal, its requests."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.pq.abc import PGresult

from approvals.requests import Look as Requests
from runs import askings, gate, leases, reading
from runs.entries import Journal
from runs.gate import Look
from runs.leases import Lease
from tenants import prepared


@dataclass(frozen=True)
class Begun:
    """A lease that was granted, with the run's row, and its requests and steps as they are under it."""

    lease: Lease
    run: Sequence[Any]
    requests: Requests
    steps: PGresult

    def journal(self) -> Journal:
        """The run and its steps."""
        return reading.told(self.lease.tenant, self.lease.run, self.run, self.steps)

    def look(self) -> Look:
        """What is settled, the run's requests and the database's time."""
        return gate.seen(self.lease.tenant, self.requests)


def begin(tenant: UUID, run: UUID, *, worker: str, knows: Collection[str]) -> Begun | None:
    """Acquire the lease, as `leases.acquire` does, and read what the first plan needs. None: it was not granted.

    One round trip, under the run's lock to its end; the requests are looked into while PostgreSQL commits.
    """
    before = time.monotonic()
    requests: list[Requests] = []
    acquire = leases.question(tenant, run, worker=worker, knows=knows)
    questions = (acquire, gate.question(askings.subject(run)), reading.question(tenant, run))

    def hear(answers: Sequence[PGresult]) -> None:
        if answers[1].ntuples:  # None where there is no such tenant, as in a message that outlived its database.
            requests.append(gate.read(answers[1]))

    early = (len(questions), hear)
    granted, _asked, steps = prepared.several(questions, early=early)
    row = prepared.read(granted, tuple)[0]
    lease = leases.told(tenant, run, row, worker=worker, since=before)
    return Begun(lease, row[3:], requests[0], steps) if lease else None
