"""The randomized crash test: workers are killed at random instants, then every ledger, state and story is checked.

`python -m bench.faults --rounds 3 --seed 7`. A round starts runs of every effect class and kills workers while they are
at them; people answer, and settle what is unknown. The ledger is outside the product and is the only proof.
"""

import argparse
import importlib
import os
import random
import signal
import subprocess
import sys
import time
from typing import Any

from bench.place import services

WORKERS = 3
PATIENCE = 180.0


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
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    told = parser.parse_args()
    os.environ |= {"LEASE_SECONDS": "0.6", "SWEEP_SECONDS": "0.1", "RETRY_BASE": "0.05", "WORKER_THREADS": "4"}
    sys.stdout.write(f"seed {told.seed}\n")
    with services() as base:
        os.environ |= {"TEST_SERVICES": str(base), "AGENT_MODULES": "tests.agents.scripted"}
        return _play(told)


def _play(told: argparse.Namespace) -> int:
    game = importlib.import_module("bench.crash_game").Game(random.Random(told.seed))
    herd, wrong = Herd(), []
    try:
        for number in range(told.rounds):
            wrong += _round(game, herd, told.kills, told.runs)
            sys.stdout.write(f"round {number + 1}: {herd.kills} kills, {game.summary()}, {len(wrong)} wrong\n")
            sys.stdout.flush()
    finally:
        herd.end()
    for each in wrong:
        sys.stdout.write(f"WRONG {each}\n")
    sys.stdout.write(f"seed {told.seed}: {herd.kills} kills, {game.summary()}, {len(wrong)} wrong\n")
    return 1 if wrong else 0


def _round(game: Any, herd: Herd, kills: int, number: int) -> list[str]:
    runs = game.begin(number)
    planned, deadline = herd.kills + kills, time.monotonic() + PATIENCE
    while herd.kills < planned or not game.over(runs):
        if game.over(runs):
            runs += game.begin(number)
        if time.monotonic() > deadline:
            return [f"a round did not end: {game.standing(runs)}"]
        herd.fill()
        game.help(runs)
        if herd.kills < planned:
            time.sleep(game.chance.uniform(0.0, 0.4))
            if (victim := game.victim(herd.pids)) is not None:
                herd.kill(victim)
        else:
            time.sleep(0.1)
    return game.check(runs)


if __name__ == "__main__":
    sys.exit(main())
