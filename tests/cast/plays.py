"""Runs played by hand through the journal's own doors, without an engine or a worker."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings
from django.utils import timezone

from approvals import calls, policy, requests, rules
from approvals.models import ApprovalRequest
from runs import commands, gate, journal, leases
from runs.commands import Start
from runs.entries import Closing, Opening, Planned, Usage
from runs.models import AgentVersion, Run, ToolDefinition
from tenants import agents, exact_json, members
from tenants.actors import COMMAND, Actor
from tenants.locks import hold
from tenants.models import Member, Tenant
from tenants.scope import scope

AGENT, VERSION = "clerk", "3"
REFUND: dict[str, Any] = {
    "name": "refund",
    "title": "Refund",
    "description": "Pay money back.",
    "summary": "Refund {amount} for order {order}",
    "parameters": {"type": "object", "properties": {"order": {"type": "string"}, "amount": {"type": "string"}}},
    "effect": "keyed",
    "risk": "high",
    "sensitive": [],
    "undo": "The bank can recall it for 24 hours.",
    "version": "1",
    "timeout": None,
}
LOOK = {**REFUND, "name": "look_up", "title": "Look up", "summary": "Look up order {order}", "effect": "read",
        "risk": "low", "undo": None}  # fmt: skip
LABEL = {**REFUND, "name": "label", "title": "Label", "summary": "Make a label for {order}", "effect": "manual",
         "risk": "low", "undo": None, "timeout": "0.001", "sensitive": ["card"]}  # fmt: skip
TOOLS = {tool["name"]: tool for tool in (REFUND, LOOK, LABEL)}


def announce(agent: str = AGENT, *, version: str = VERSION, model: str = "scripted") -> None:
    """Write down the agent as a live worker would."""
    for name, tool in TOOLS.items():
        row = {"name": name, "definition": {**tool, "fingerprint": f"{agent}-{name}"}}
        ToolDefinition.objects.get_or_create(fingerprint=f"{agent}-{name}", defaults=row)
    told = {
        "model": model,
        "tools": [f"{agent}-{name}" for name in TOOLS],
        "known_until": timezone.now() + timedelta(hours=1),
    }
    AgentVersion.objects.update_or_create(agent=agent, version=version, defaults=told)


def switch_on(tenant: Tenant, agent: str = AGENT, **changes: Any) -> None:
    """What an admin does, after a worker announced the agent."""
    announce(agent)
    with scope(tenant.pk):
        agents.switch(agent, actor=COMMAND, **{"enabled": True, **changes})


class Play:
    """One run, taken forward by hand as a worker would. Step numbers are those of the journal."""

    def __init__(self, tenant: Tenant, *, by: Member | None = None, agent: str = AGENT, **start: Any) -> None:
        self.tenant = tenant
        actor: Actor = members.actor_of(by) if by else COMMAND
        with scope(tenant.pk):
            self.run = commands.start(Start(agent=agent, input=start.pop("input", '"go"'), **start), actor=actor)
        self.holder: journal.Holder = None  # type: ignore[assignment]

    @property
    def id(self) -> str:
        return str(self.run.pk)

    @property
    def subject(self) -> str:
        return f"run:{self.run.pk}"

    def begin(self) -> "Play":
        """A worker takes the run and asks the model."""
        self.take()
        self.holder.open_turn()
        return self

    def take(self) -> None:
        knows = [f"{self.run.agent}@{self.run.version}"]
        with override_settings(LEASE_SECONDS=600):  # Nobody renews it: what a test does not commit, no thread sees.
            lease = leases.acquire(self.tenant.pk, self.run.pk, worker="host:1:main", knows=knows)
        assert lease is not None
        self.holder = journal.holder(lease)

    def wants(self, *tools: tuple[str, dict[str, Any]], text: str = "", rationale: str = "It broke.") -> list[int]:
        """The model answers with these calls; their step numbers."""
        turn = self.holder.journal.steps[-1].seq
        plans = [self._planned(turn, place, name, values, rationale) for place, (name, values) in enumerate(tools)]
        first = self.holder.journal.next_seq
        closing = Closing(turn, "completed", result=text, usage=Usage(100, 20))
        self.holder.close_turn_and_open(closing, plans=plans)
        return list(range(first, first + len(plans)))

    def done(self, seq: int, result: Any) -> None:
        """The call is made and gives this."""
        self.holder.open(Opening(seq))
        self.holder.close(Closing(seq, "completed", result=exact_json.dumps(result)))

    def lost(self, seq: int, *, key: str = "") -> None:
        """The call is made and no answer comes back."""
        self.holder.open(Opening(seq, key=key))
        self.holder.close(Closing(seq, "unknown", cause="connection", message="reset by peer", not_done=False))

    def again(self) -> None:
        """The model is asked once more."""
        self.holder.open_turn()

    def park(self, *steps: int, risk: str = "high", evidence: str | None = None) -> list[ApprovalRequest]:
        """People are asked about these steps, and the worker goes."""
        made: list[ApprovalRequest] = []

        def ask(current: journal.Journal) -> bool:
            made.extend(self._ask(current, seq, risk, evidence) for seq in steps)
            return True

        self.holder.park(ask)
        return made

    def attention(self, reason: str) -> None:
        """The worker stops for a person."""
        self.holder.attention(reason)

    def finish(self, result: str = "All done.") -> None:
        """The model's last answer ends the run."""
        self.wants(text=result)
        self.holder.finish("succeeded", result=result)

    def fail(self, message: str = "The model refused.") -> None:
        """The turn in hand fails for good."""
        turn = self.holder.journal.steps[-1].seq
        self.holder.close(Closing(turn, "failed", cause="permission", message=message, not_done=True))
        self.holder.finish("failed", reason="model", message=message)

    def fresh(self) -> Run:
        """The run as it is now."""
        with scope(self.tenant.pk):
            return Run.objects.get(pk=self.run.pk)

    def _planned(self, turn: int, place: int, name: str, values: dict[str, Any], rationale: str) -> Planned:
        text = exact_json.dumps(values)
        return Planned(
            "tool_call",
            tool=name,
            effect=TOOLS[name]["effect"],
            call_id=f"c{turn}-{place}",
            turn=turn,
            digest=calls.digest(text),
            proposed=text,
            arguments=text,
            rationale=rationale,
        )

    def _ask(self, current: journal.Journal, seq: int, risk: str, evidence: str | None) -> ApprovalRequest:
        step = current.step(seq)
        tool = TOOLS[step.tool]
        text = str(step.arguments)
        call = calls.ProposedCall(
            tool=step.tool,
            summary=calls.sentence(tool["summary"], exact_json.loads(text)),
            agent=self.run.agent,
            agent_version=self.run.version,
            risk=risk,
            effect=step.effect,
            arguments=text,
            digest=step.digest,
            tool_definition={**tool, "fingerprint": "f"},
            proposed_arguments=text,
            rationale=step.rationale or "",
            evidence=evidence,
            initiators=tuple(self.run.initiators),
            run={"id": self.id, "title": self.run.title, "step": seq},
        )
        requirement = policy.evaluate(call, rules.load(), now=timezone.now())
        hold(self.subject)
        return requests.open(call, subject=self.subject, ref=str(seq), requirement=requirement, actor=self.holder.actor)


@pytest.fixture
def play(acme: Tenant) -> Callable[..., Play]:
    """Starts a run at Acme with the agent `clerk` switched on: `play(by=alice, title="…")`."""
    switch_on(acme)
    return lambda **start: Play(acme, **start)


@pytest.fixture
def parked_run(play: Callable[..., Play], alice: Member, bo: Member) -> Play:
    """A run that looked an order up and waits for a yes to a refund."""
    run = play(title="Broken cup").begin()
    look, refund = run.wants(("look_up", {"order": "A-1"}), ("refund", {"order": "A-1", "amount": "12.50"}))
    run.done(look, {"found": True})
    run.park(refund)
    return run


@pytest.fixture
def unknown_run(play: Callable[..., Play]) -> Play:
    """A run that made a label and does not know whether."""
    run = play(title="Lost answer").begin()
    (label,) = run.wants(("label", {"order": "A-2", "card": "4111"}))
    run.lost(label)
    run.attention("unknown_outcome")
    return run


def standing(tenant: UUID) -> gate.Standing:
    """What the engine reads of the tenant's rules and switches."""
    with scope(tenant, read_only=True):
        return gate.standing_here(tenant)
