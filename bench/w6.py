"""W6: what a decision costs, and what fifty rules on one call cost, each in bare commits."""

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from approvals import decisions, rules
from approvals.calls import ProposedCall
from bench import ground, place
from bench.report import Measured
from runs import gate
from tenants import broker, members
from tenants.actors import COMMAND, Actor
from tenants.scope import scope

TIMES = 100
WARM = 15
RULES = 50
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CALL = ProposedCall(
    tool="stamped", summary="Tell the time of 1", agent="gated", risk="high", effect="keyed",
    arguments='{"number": 1}', digest="", tool_definition={"parameters": {}},
)  # fmt: skip


def measure(_base: Path) -> list[Measured]:
    """Deciding and judging by turns with bare commits; the ratio of their medians."""
    tenant = ground.tenant("w6")
    ground.announced()
    place.make_floor()
    with scope(tenant):
        reviewers = [members.add(f"r{number}@bench.example", actor=COMMAND, roles=["reviewer"]) for number in range(10)]
        reviewer = members.actor_of(reviewers[0])
    decided = _compared(lambda: _decided(tenant, reviewer))
    with scope(tenant):
        for number in range(RULES):
            rules.create_rule(actor=COMMAND, name=f"Rule {number}", when=f"args.number > {number} && risk == 'high'")
    judged = _compared(lambda: _judged(tenant))
    against = "a bare INSERT of 500 bytes and its commit"
    return [
        Measured("W6 decide", decided[0] * 1000, "ms", decided[0] / decided[1], against),
        Measured(f"W6 {RULES} rules", judged[0] * 1000, "ms", judged[0] / judged[1], against),
    ]


def _compared(act: Callable[[], float]) -> tuple[float, float]:
    """Seconds for the act and for a bare commit: medians of turns."""
    ours, bare = [], []
    connection = place.connect()
    for _ in range(TIMES + WARM):
        bare.append(place.insert(connection, 1))
        ours.append(act())
    connection.close()
    return statistics.median(ours[WARM:]), statistics.median(bare[WARM:])


def _decided(tenant: UUID, reviewer: Actor) -> float:
    """A request of a parked run is answered; its opening is not measured."""
    request = ground.parked(tenant)
    values = {"decision": "approve", "version": 1, "channel": "api"}
    began = time.perf_counter()
    decisions.decide(request, tenant=tenant, actor=reviewer, **values)
    took = time.perf_counter() - began
    broker.flush()  # What is sent behind it shall not slow the bare commit that follows.
    return took


def _judged(tenant: UUID) -> float:
    """What the engine does before a call: read whether the rules changed, then judge by all of them."""
    began = time.perf_counter()
    with scope(tenant, read_only=True):
        settled = gate.standing_here(tenant)
    gate.judge(CALL, settled, now=NOW)
    return time.perf_counter() - began
