"""W1: one run of 50 model turns and 50 `keyed` calls that do nothing, through a real worker, against the bare loop."""

import statistics
from pathlib import Path

from bench import ground, place
from bench.agents import TURNS
from bench.report import Measured
from bench.workers import workers

ROUNDS = 9


def measure(base: Path) -> list[Measured]:
    """Rounds of floor, run, floor; the median of their ratios, since other work shares the machine."""
    tenant = ground.tenant("w1")
    place.make_floor()
    connection = place.connect()
    rates, ratios = [], []
    with workers(base, 1):
        for number in range(ROUNDS + 2):
            before = place.insert(connection, 2 * TURNS)
            run = ground.start(tenant, "steps")
            ground.until(tenant, [run], "succeeded", every=0.1)
            floor = (before + place.insert(connection, 2 * TURNS)) / 2
            begun, over = ground.took(tenant, run)
            if number > 1:  # The first two warm caches and plans up.
                rates.append(2 * TURNS / (over - begun))
                ratios.append(floor / (over - begun))
    connection.close()
    against = "a bare psycopg loop, one INSERT of 500 bytes and one commit a step"
    return [Measured("W1", statistics.median(rates), "steps/s", statistics.median(ratios), against)]
