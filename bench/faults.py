"""The randomized crash test: workers are killed at random instants, then every ledger, state and story is checked.

`python -m bench.faults --rounds 3 --seed 7`. A round starts runs of every effect class and kills workers while they are
at them, and once PostgreSQL or the broker; people answer, and settle what is unknown. The ledger is outside the product
and is the only proof.
"""

import argparse
import importlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.place import servers
from bench.shakes import Shakes

WORKERS = 3
PATIENCE = 600.0
LOG = 400


class Herd:
    """The workers: forked, killed, forked again."""

    def __init__(self) -> None:
        words = [sys.executable, "-m", "bench.forks"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pids: list[int] = []
        self.kills = 0

    def fill(self) -> None:
        """Fork as many as are missing."""
        while len(self.pids) < WORKERS:
            assert self.process.stdin
            assert self.process.stdout
            self.process.stdin.write("fork\n")
            self.process.stdin.flush()
            self.pids.append(int(self.process.stdout.readline()))

    def kill(self, pid: int) -> None:
        """Without warning."""
        os.kill(pid, signal.SIGKILL)
        self.pids.remove(pid)
        self.kills += 1

    def tell(self) -> None:
        """Let each say, in the workers' log, where its threads are; the log's end goes to our own output."""
        for pid in self.pids:
            os.kill(pid, signal.SIGUSR2)
        time.sleep(1)
        log = Path(os.environ["TEST_SERVICES"]) / "workers.log"
        sys.stderr.write("".join(log.read_text(errors="replace").splitlines(keepends=True)[-LOG:]))

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)


def main() -> int:
    """Play the rounds; 0 where everything is right."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--kills", type=int, default=10, help="how many workers die in a round, at the least")
    parser.add_argument("--runs", type=int, default=20, help="how many runs a round starts")
    parser.add_argument("--shakes", type=int, default=1, help="how often PostgreSQL or the broker falls in a round")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    told = parser.parse_args()
    os.environ |= {"LEASE_SECONDS": "0.6", "SWEEP_SECONDS": "0.1", "RETRY_BASE": "0.05", "WORKER_THREADS": "4"}
    os.environ["CELERY_SKIP_CHECKS"] = "1"  # They take longer than all else that a worker does at its start.
    sys.stdout.write(f"seed {told.seed}\n")
    with servers() as (base, postgres, valkey):
        os.environ |= {"TEST_SERVICES": str(base), "AGENT_MODULES": "tests.agents.scripted"}
        chance = random.Random(told.seed)
        return _play(told, chance, Shakes(postgres, valkey, chance))


def _play(told: argparse.Namespace, chance: random.Random, shakes: Shakes) -> int:
    game = importlib.import_module("bench.crash_game").Game(chance)
    herd, wrong = Herd(), []
    try:
        for number in range(told.rounds):
            wrong += _round(game, herd, told, shakes)
            sys.stdout.write(f"round {number + 1}: {herd.kills} kills, {game.summary()}, {len(wrong)} wrong\n")
            sys.stdout.flush()
    finally:
        herd.end()
    for each in wrong:
        sys.stdout.write(f"WRONG {each}\n")
    sys.stdout.write(f"seed {told.seed}: {herd.kills} kills, {game.summary()}, {len(wrong)} wrong\n")
    return 1 if wrong else 0


def _round(game: Any, herd: Herd, told: argparse.Namespace, shakes: Shakes) -> list[str]:
    runs = game.begin(told.runs)
    planned, deadline = herd.kills + told.kills, time.monotonic() + PATIENCE
    falls = sorted(game.chance.randrange(herd.kills, planned) for _ in range(told.shakes))
    while herd.kills < planned or not game.over(runs):
        if game.over(runs):
            runs += game.begin(told.runs)
        if time.monotonic() > deadline:
            herd.tell()
            return [f"a round did not end: {each}" for each in game.standing(runs)]
        herd.fill()
        game.help(runs)
        if falls and herd.kills >= falls[0]:
            falls.pop(0)
            game.counts[shakes.one()] += 1
        if herd.kills < planned:
            time.sleep(game.chance.uniform(0.0, 0.4))
            for victim in game.victims(herd.pids):
                herd.kill(victim)
        else:
            time.sleep(0.1)
    return game.check(runs)


if __name__ == "__main__":
    sys.exit(main())
