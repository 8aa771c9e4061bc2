"""The settings under test: the real ones, told by the environment of services that live as long as the run."""

import os
import tempfile
from pathlib import Path

from config.local.sockets import sockets_of

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
# The first process of a run names the folder; xdist's workers inherit the name.
FOLDER = os.environ.setdefault("TEST_SERVICES", os.path.join(tempfile.gettempdir(), f"vermilion-test-{os.getpid()}"))  # noqa: PTH118
# Sixteen of Valkey's databases for each process: 0 nobody listens, 1 bell and cache, 2 the pair, 3 to 15 own workers.
NUMBERS = 16 * int(WORKER.removeprefix("gw") or 0)
LISTENED_BY_NOBODY, BELL, PAIR, OWN = NUMBERS, NUMBERS + 1, NUMBERS + 2, range(NUMBERS + 3, NUMBERS + 16)
SOCKET = sockets_of(Path(FOLDER)) / "valkey.sock"


def broker(number: int, valkey: Path = SOCKET) -> str:
    """The broker URL of a database of the embedded Valkey, or of another one that listens there."""
    return f"redis+socket://{valkey}?virtual_host={number}"


os.environ |= {
    "LOCAL_DIR": FOLDER,
    "BROKER_URL": broker(LISTENED_BY_NOBODY),
    "CHANNEL_URL": f"unix://{SOCKET}?db={BELL}",
    "CHANNEL_PREFIX": f"test-{WORKER or 'main'}",
    "SECRET_KEY": "a secret of the tests, long enough to be one",
    "FIELD_KEYS": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
    "AUDIT_KEY": "another secret of the tests",
    "AGENT_MODULES": "tests.cast.agents",
    "LEASE_SECONDS": "1",
    "SWEEP_SECONDS": "0.2",
    "RETRY_BASE": "0.05",
}
for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "CACHE_URL", "PUBLIC_URL", "EMAIL_URL", "ALLOWED_HOSTS"):
    os.environ.pop(name, None)

from config.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # Hundreds of people sign in a minute.
