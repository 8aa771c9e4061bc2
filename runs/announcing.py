"""What this worker knows, said again and again: agents, their versions, and their tools' definitions."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connections
from django.db.models.functions import Now

from runs.agents import Agent, registry
from runs.models import AgentVersion, ToolDefinition, WorkerSeen

logger = logging.getLogger(__name__)
REPEATS = 3  # A worker counts as gone after this many announcements that did not come.
LATE = 4 / 3  # Of the time between two announcements: one that has not come by then is missed.


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


def withdraw(worker: str) -> None:
    """This process takes no run any more: what no other one knows is known by nobody from now on.

    One that announced later than this one is not overruled, whichever of the two is written first.
    """
    mine = WorkerSeen.objects.filter(worker=worker).values_list("until", flat=True).first()
    if mine is None:
        return
    WorkerSeen.objects.filter(worker=worker).delete()
    others = WorkerSeen.objects.filter(until__gt=Now()).values_list("knows", flat=True)
    gone = set(knows()) - {name for known in others for name in known}
    for agent, _at, version in (name.rpartition("@") for name in gone):
        rows = AgentVersion.objects.filter(agent=agent, version=version, known_until__gt=Now())
        rows.filter(known_until__lte=mine).update(known_until=Now())


def unheard_since(until: datetime, *, now: datetime) -> datetime | None:
    """When the last announcement came of what is believed `until` then, if the next one is late; else None."""
    last = until - timedelta(seconds=REPEATS * pause())
    return last if now - last > timedelta(seconds=LATE * pause()) else None


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
    """One thread a process that announces until it is told to stop, and then takes it back."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="announcer", daemon=True)

    def start(self) -> None:
        """Announce once here, so that a worker is known before its first run, then from a thread."""
        self._announce()
        self._thread.start()

    def stop(self) -> None:
        """Let the thread take back what was announced; this only tells it, so that a handler of a signal may."""
        self._over.set()

    def join(self, seconds: float) -> None:
        """Wait at most so long until the thread, told to stop, has taken it back."""
        if self._over.is_set() and self._thread.is_alive():
            self._thread.join(seconds)

    def _repeat(self) -> None:
        while not self._over.wait(pause()):
            self._announce()
        self._tell(withdraw, "The worker could not take back what it knows; it is believed for a while.")

    def _announce(self) -> None:
        self._tell(announce, "The worker could not announce what it knows; it tries again.")

    def _tell(self, what: Callable[[str], None], failed: str) -> None:
        try:
            what(self._worker)
        except DatabaseError:
            logger.warning(failed, exc_info=True)
        finally:
            for each in connections.all(initialized_only=True):
                each.close()
