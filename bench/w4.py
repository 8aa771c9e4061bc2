"""W4: a worker takes a run up → the first new step, at 50, 500 and 5,000 recorded steps, and behind a compaction."""

import statistics
import time
from pathlib import Path
from uuid import UUID

from bench import ground, place
from bench.report import Measured
from runs import announcing, engine, journal, leases
from runs.agents import load, registry
from runs.entries import Closing, Opening, Planned
from runs.errors import ModelRefused
from runs.llm.base import ModelRequest, ModelResponse

KNOWS = ["steps@1"]
TIMES = 15
WARM = 7  # PostgreSQL plans a statement anew for its first five times on a connection.
SIZES = (50, 500, 5000)
COMPACTED = "compacted"


def measure(_base: Path) -> list[Measured]:
    """Each size against one bare SELECT of the same rows, the compacted run against that of 50 steps; all by turns."""
    load()
    announcing.announce("bench")
    tenant = ground.tenant("w4")
    runs: dict[int | str, UUID] = {size: _recorded(tenant, size) for size in SIZES}
    runs[COMPACTED] = _recorded(tenant, SIZES[-1], compact=True)
    ours, theirs = _compared(tenant, runs)
    against = "one SELECT of its rows"
    found = [Measured(f"W4 {size}", ours[size] * 1000, "ms", ours[size] / theirs[size], against) for size in SIZES]
    ratio = ours[COMPACTED] / ours[SIZES[0]]
    return [*found, Measured("W4 compacted", ours[COMPACTED] * 1000, "ms", ratio, f"a run of {SIZES[0]} steps")]


def _recorded(tenant: UUID, size: int, *, compact: bool = False) -> UUID:
    """A queued run with so many steps behind it, the last one a call that is done."""
    run = ground.start(tenant, "steps")
    door = _door(tenant, run)
    turn = door.open_turn()
    for number in range(size // 2):
        seq = door.journal.next_seq
        call = Planned("tool_call", tool="nothing", effect="keyed", call_id=f"call-{number}", turn=turn.seq)
        door.close_turn_and_open(Closing(turn.seq, "completed", result=""), plans=[_bound(call)], opening=Opening(seq))
        if number < size // 2 - 1:
            turn = door.close_and_open(Closing(seq, "completed", result='{"done": 1}'), "model_turn")
        else:
            door.close(Closing(seq, "completed", result='{"done": 1}'))
    if compact:
        step = door.open_turn("compaction")
        door.close(Closing(step.seq, "completed", result="Everything so far was done."))
    door.give_back("measured")
    return run


def _bound(call: Planned) -> Planned:
    return call._replace(proposed='{"number": 1}', arguments='{"number": 1}')


def _door(tenant: UUID, run: UUID) -> journal.Holder:
    lease = leases.acquire(tenant, run, worker="bench", knows=KNOWS)
    assert lease is not None
    return journal.holder(lease)


def _compared(tenant: UUID, runs: dict[int | str, UUID]) -> tuple[dict[int | str, float], dict[int | str, float]]:
    """Seconds to the first new step and for the SELECT, of each run: medians of rounds over all."""
    ours: dict[int | str, list[float]] = {name: [] for name in runs}
    theirs: dict[int | str, list[float]] = {name: [] for name in runs}
    owner = place.connect("owner")
    for _ in range(WARM + TIMES):
        for name, run in runs.items():
            ours[name].append(_resume(tenant, run))
            began = time.perf_counter()
            owner.execute("SELECT * FROM runs_step WHERE run_id = %s ORDER BY seq", (run,)).fetchall()
            theirs[name].append(time.perf_counter() - began)
    owner.close()
    return _medians(ours), _medians(theirs)


def _medians(times: dict[int | str, list[float]]) -> dict[int | str, float]:
    return {name: statistics.median(found[WARM:]) for name, found in times.items()}


def _resume(tenant: UUID, run: UUID) -> float:
    """Seconds until the model is asked, its step open; the model then refuses, and the run is put back."""
    model = registry.find("steps", "1").model
    over: list[float] = []

    def respond(_request: ModelRequest) -> ModelResponse:
        over.append(time.perf_counter())
        raise ModelRefused("measured")

    former, model.respond = model.respond, respond
    try:
        began = time.perf_counter()
        engine.advance(tenant, run, worker="bench", knows=KNOWS, stopping=lambda: False)
    finally:
        model.respond = former
    _put_back(run)
    return over[0] - began


def _put_back(run: UUID) -> None:
    owner = place.connect("owner")
    seqs = owner.execute(
        "DELETE FROM runs_step WHERE run_id = %s AND status = 'failed' RETURNING seq", (run,)
    ).fetchall()
    owner.execute("DELETE FROM runs_formerattempt WHERE run_id = %s AND seq = ANY(%s)", (run, [seq for (seq,) in seqs]))
    owner.execute("UPDATE runs_run SET status = 'queued' WHERE id = %s AND status = 'failed'", (run,))
    owner.close()
