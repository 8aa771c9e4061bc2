"""What the doctor says of agents is what workers say of themselves, wherever they run."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from config import doctor
from runs.agents import Agent, register, registry
from runs.announcing import announce
from runs.models import AgentVersion, WorkerSeen

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_named_here(settings: Any) -> None:
    settings.AGENT_MODULES = []


def _announced(agent: str, *, seconds: int) -> None:
    until = timezone.now() + timedelta(seconds=seconds)
    AgentVersion.objects.create(agent=agent, version="2", known_until=until)
    WorkerSeen.objects.create(worker=f"host:{agent}", knows=[f"{agent}@2"], until=until)


def test_agents_of_a_worker_that_runs_elsewhere_are_told_though_no_module_is_named_here(settings: Any) -> None:
    _announced("refund-desk", seconds=60)
    _announced("older", seconds=-60)
    settings.LEASE_SECONDS = 15
    assert doctor.agents() == "refund-desk 2; 1 worker heard of within 45 s"
    assert "none" in doctor.modules()


def test_what_a_worker_announces_is_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_agents", {})
    register(Agent(name="front-desk", version="7", model="provider:model", instructions="Answer."))
    assert "no worker has ever said" in doctor.agents()
    announce("host:1")
    assert doctor.agents().startswith("front-desk 7; 1 worker heard of within ")


def test_agents_that_no_worker_knows_any_more_are_wrong() -> None:
    _announced("refund-desk", seconds=-60)
    with pytest.raises(doctor.Wrong, match=r"no worker that knows one is at work; refund-desk 2 wait for one"):
        doctor.agents()


def test_every_question_has_its_line() -> None:
    assert {"agent modules", "agents"} <= {each.question for each in doctor.examine()}
