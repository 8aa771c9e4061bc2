"""What workers say they know, until when it is believed, and that one which leaves takes it back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runs import agents, announcing
from runs.agents import Agent
from runs.llm.scripted import Scripted
from runs.models import AgentVersion, WorkerSeen

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def one_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process knows one agent, whatever else was loaded here before."""
    known = agents.Registry()
    known.add(Agent(name="leaver", version="1", model=Scripted([]), instructions="", tools=[]))
    monkeypatch.setattr(announcing, "registry", known)


def living() -> set[str]:
    rows = AgentVersion.objects.filter(known_until__gt=timezone.now()).values_list("agent", "version")
    return {f"{agent}@{version}" for agent, version in rows} & set(announcing.knows())


def test_a_worker_that_leaves_takes_back_what_nobody_else_knows() -> None:
    announcing.announce("one")
    known = living()
    assert known
    announcing.announce("two")
    announcing.withdraw("one")
    assert living() == known
    assert list(WorkerSeen.objects.values_list("worker", flat=True)) == ["two"]
    announcing.withdraw("two")
    assert living() == set()
    announcing.withdraw("two")
    announcing.announce("three")
    assert living() == known


def test_a_worker_that_leaves_overrules_none_that_announced_after_it() -> None:
    announcing.announce("one")
    AgentVersion.objects.update(known_until=timezone.now() + timedelta(hours=1))
    announcing.withdraw("one")
    assert living()


def test_an_announcer_that_is_stopped_takes_it_back(transactional_db: None) -> None:
    announcer = announcing.Announcer("passing by")
    announcer.start()
    assert WorkerSeen.objects.filter(worker="passing by").exists()
    announcer.stop()
    announcer.join(30)
    assert not WorkerSeen.objects.filter(worker="passing by").exists()


def test_an_announcement_is_missed_a_third_after_its_time() -> None:
    now, pause = timezone.now(), announcing.pause()
    until = now + timedelta(seconds=announcing.REPEATS * pause)
    assert announcing.unheard_since(until, now=now + timedelta(seconds=1.3 * pause)) is None
    assert announcing.unheard_since(until, now=now + timedelta(seconds=1.4 * pause)) == now
