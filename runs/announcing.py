"""What this worker knows, said again and again: agents, their versions, and their tools' definitions."""

import logging
import threading
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connections
from django.db.models.functions import Now

from runs.agents import Agent, registry
from runs.models import AgentVersion, ToolDefinition, WorkerSeen

logger = logging.getLogger(__name__)
REPEATS = 3  # A worker counts as gone after this many announcements that did not come.


def knows() -> list[str]:
    """Every `agent@version` this process can run, by itself or because a later version fits."""
    names = {f"{agent.name}@{version}" for agent in registry for version in (agent.version, *agent.fits)}
    return sorted(names)


def announce(worker: str) -> None:
    """Write down what this process knows and until when that may be believed."""
    until = Now() + timedelta(seconds=REPEATS * pause())
    for agent in registry:
        _tools(agent)
        _version(agent, until)
        AgentVersion.objects.filter(agent=agent.name, version__in=list(agent.fits)).update(known_until=until)
    WorkerSeen.objects.update_or_create(worker=worker, defaults={"knows": knows(), "until": until})
    WorkerSeen.objects.filter(until__lt=Now() - timedelta(seconds=settings.VERSION_GRACE)).delete()


def pause() -> float:
    """Seconds between two announcements."""
    return float(settings.LEASE_SECONDS)


def _tools(agent: Agent) -> None:
    rows = [
        ToolDefinition(fingerprint=each.fingerprint, name=each.name, definition=each.definition) for each in agent.tools
    ]
    ToolDefinition.objects.bulk_create(rows, ignore_conflicts=True)


def _version(agent: Agent, until: Any) -> None:
    defaults = {
        "model": agent.model_label,
        "fits": list(agent.fits),
        "tools": [each.fingerprint for each in agent.tools],
        "definition": {
            "instructions": agent.instructions,
            "parallel": agent.parallel,
            "tools": [each.name for each in agent.tools],
            "max_steps": agent.max_steps,
        },
        "known_until": until,
    }
    AgentVersion.objects.update_or_create(agent=agent.name, version=agent.version, defaults=defaults)


class Announcer:
    """One thread a process that announces until it is told to stop."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._over = threading.Event()

    def start(self) -> None:
        """Announce once here, so that a worker is known before its first run, then from a thread."""
        self._announce()
        threading.Thread(target=self._repeat, name="announcer", daemon=True).start()

    def stop(self) -> None:
        """Say nothing more."""
        self._over.set()

    def _repeat(self) -> None:
        while not self._over.wait(pause()):
            self._announce()

    def _announce(self) -> None:
        try:
            announce(self._worker)
        except DatabaseError:
            logger.warning("The worker could not announce what it knows; it tries again.", exc_info=True)
        finally:
            for each in connections.all(initialized_only=True):
                each.close()
