"""Handing messages to chat services, through a process of its own: apprise is slow to load and may hang."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from django.conf import settings

from approvals.notifications.failures import Failure

START, EACH = 15.0, 20.0
MOST_AT_ONCE = 5  # Their time together is less than a claim lasts.


@dataclass(frozen=True)
class Words:
    """One message for a chat service."""

    url: str
    title: str
    body: str


def send(messages: Sequence[Words]) -> list[Failure | None]:
    """Hand over some messages; for each what went wrong, or None. The process is gone afterwards, also if it hung."""
    sent = {"allowed": list(settings.OUTBOUND_NETWORKS), "messages": [asdict(each) for each in messages]}
    said, late = _run(json.dumps(sent), patience=START + EACH * len(messages))
    told: list[Failure | None] = [Failure(str(why)[:500]) if why else None for why in map(json.loads, said)]
    return told + [late] * (len(messages) - len(told))


def _run(words: str, *, patience: float) -> tuple[list[str], Failure]:
    """The lines it wrote, and what is to be said of the messages it wrote none for."""
    command = [sys.executable, "-m", "approvals.notifications.chat_process"]
    with subprocess.Popen(
        command,
        text=True,
        cwd=settings.BASE_DIR,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            said, _none = process.communicate(words, timeout=patience)
            late = Failure("The process that speaks to chat services ended without an answer")
        except subprocess.TimeoutExpired:
            process.kill()
            said, _none = process.communicate()
            late = Failure(f"The service did not answer within {EACH:.0f} seconds", silent=True)
    return [line for line in said.splitlines(keepends=False) if line], late


def _environment() -> dict[str, str]:
    """Nothing of ours goes there: no key, no password, no address of a service."""
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
