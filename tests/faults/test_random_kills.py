"""A short round of the randomized crash test; `make faults ROUNDS=100` plays a long one."""

import os
import subprocess
import sys

import pytest
from django.conf import settings

pytestmark = pytest.mark.faults
TOLD = {
    "DATABASE_URL",
    "DATABASE_OWNER_URL",
    "BROKER_URL",
    "CHANNEL_URL",
    "CHANNEL_PREFIX",
    "LOCAL_DIR",
    "TEST_SERVICES",
}


def test_workers_killed_at_random_leave_every_ledger_state_and_story_right() -> None:
    env = {name: value for name, value in os.environ.items() if name not in TOLD}
    words = [sys.executable, "-m", "bench.faults", "--rounds", "1", "--kills", "4", "--runs", "8"]
    found = subprocess.run(words, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, timeout=280)
    assert found.returncode == 0, found.stdout + found.stderr[-4000:]
    assert "0 wrong" in found.stdout
