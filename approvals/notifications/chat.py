"""Handing messages to chat services, through a process of its own: apprise is slow to load and may hang."""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass

from django.conf import settings

from approvals.notifications.failures import Failure

START, EACH = 15.0, 20.0


@dataclass(frozen=True)
class Words:
    """One message for a chat service."""

    url: str
    title: str
    body: str


def send(message: Words) -> Failure | None:
    """Hand over one message; what went wrong, or None. The process is gone afterwards, also where it hung."""
    sent = {"allowed": list(settings.OUTBOUND_NETWORKS), "messages": [asdict(message)]}
    command = [sys.executable, "-m", "approvals.notifications.chat_process"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(sent),
            capture_output=True,
            text=True,
            timeout=START + EACH,
            check=False,
            cwd=settings.BASE_DIR,
            env=_environment(),
        )
    except subprocess.TimeoutExpired:
        return Failure(f"The service did not answer within {EACH:.0f} seconds", silent=True)
    lines = done.stdout.splitlines()
    if not lines:
        return Failure("The process that speaks to chat services ended without an answer")
    why = json.loads(lines[0])
    return Failure(str(why)[:500]) if why else None


def _environment() -> dict[str, str]:
    """Nothing of ours goes there: no key, no password, no address of a service."""
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
