"""W2: eight such runs at once over two worker processes, against the bare loop on eight connections."""

import statistics
from pathlib import Path
from uuid import UUID

from bench import floor, ground, place
from bench.agents import TURNS
from bench.report import Measured
from bench.workers import workers
from tenants import broker

ROUNDS = 5
RUNS = 8


def measure(base: Path) -> list[Measured]:
    """Rounds of floor and runs by turns; the median of their ratios."""
    tenant = ground.tenant("w2")
    place.make_floor()
    rates, ratios = [], []
    with workers(base, 2, threads=4):
        _rate(tenant)
        for _ in range(ROUNDS):
            before = floor.rate(300)
            rate = _rate(tenant)
            rates.append(rate)
            ratios.append(rate / ((before + floor.rate(300)) / 2))
    against = "the bare loop on eight connections of two processes"
    return [Measured("W2", statistics.median(rates), "steps/s", statistics.median(ratios), against)]


def _rate(tenant: UUID) -> float:
    with broker.at_most(0):
        runs = [ground.start(tenant, "steps") for _ in range(RUNS)]
    for run in runs:  # At once: to start a run takes ten steps' time, and is none.
        broker.publish("runs.tasks.advance", tenant, run)
    ground.until(tenant, runs, "succeeded", every=0.5)
    spans = [ground.took(tenant, run) for run in runs]
    took = max(over for _begun, over in spans) - min(begun for begun, _over in spans)
    return RUNS * 2 * TURNS / took
