"""Take a run up in one round trip: its lease, its journal, its requests and who answered them."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from psycopg.pq.abc import PGresult

from approvals.requests import Look as Requests
from runs import gate, leases, reading, telling
from runs.entries import Journal
from runs.gate import Look
from runs.leases import Lease
from tenants import prepared


@dataclass(frozen=True)
class Begun:
    """A lease that was granted, the requests, and what was read after them, still to be looked into."""

    lease: Lease
    requests: Requests
    people: PGresult
    run: PGresult
    steps: PGresult

    def journal(self) -> Journal:
        """The run and its steps."""
        return reading.told(self.lease.tenant, self.lease.run, self.run, self.steps)

    def look(self) -> Look:
        """What is settled, the run's requests and the database's time."""
        return gate.seen(self.lease.tenant, self.requests, self.people)


def begin(tenant: UUID, run: UUID, *, worker: str, knows: Collection[str]) -> Begun | None:
    """Acquire the lease, as `leases.acquire` does, and read what the first plan needs. None: it was not granted.

    One round trip; the requests are looked into while PostgreSQL reads the steps. They are read before these: an answer
    that declines a step is in the steps too, then.
    """
    before = time.monotonic()
    acquire = leases.question(tenant, run, worker=worker, knows=knows)
    requests: list[Requests] = []

    def beside(answers: list[list[PGresult]]) -> None:
        _granted, (_entered, asked, _people) = answers
        requests.append(gate.read(asked))

    asking = gate.questions(tenant, telling.subject(run))
    answers = prepared.together([[acquire], asking, reading.questions(tenant, run)], beside)
    row = prepared.read(answers[0], tuple)[0]
    lease = leases.told(tenant, run, row, worker=worker, since=before)
    return Begun(lease, requests[0], *answers[3:]) if lease else None
