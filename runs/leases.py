"""The right of one worker to advance a run for a while; its clock is the database's."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as it was granted. `remaining()` counts down by this process's monotonic clock from before the grant."""

    tenant: UUID
    run: UUID
    fence: int
    worker: str
    agent: str
    version: str

    def remaining(self) -> float:
        """Seconds for which this lease is certainly still held, by the last renewal known; may be negative."""
        raise NotImplementedError


def acquire(tenant: UUID, run: UUID, *, worker: str, knows: Collection[str]) -> Lease | None:
    """Take a queued run: `running`, `run.started`, a higher fence, one commit. None: not queued, or held, or its
    version (`agent@version`) is not among `knows`. The lease is renewed by this process until `release`."""
    raise NotImplementedError


def release(lease: Lease) -> None:
    """Stop renewing and give the lease row up, if it is still ours; stopping doors of the journal do it themselves."""
    raise NotImplementedError
