"""What one worker has at hand while it holds a run: the door to the journal, and what it read beside it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings

from approvals.requests import RequestView
from runs import gate, payloads
from runs.agents import Agent, Budget
from runs.arguments import Bound
from runs.context import Conversation
from runs.entries import Closing, Journal, StepRow
from runs.gate import Look, Standing
from runs.journal import Holder
from runs.llm.base import ModelRequest
from runs.plan import Facts
from runs.tools import Tool
from tenants.actors import Actor


class Stopped(Exception):
    """This stretch of work is over; the run's row says why."""


def _nowhere(_late: Closing) -> None:
    raise RuntimeError("The engine says where this stretch of work goes on.")


@dataclass
class Segment:
    """One stretch of work on one run; everything here may be thrown away and read again."""

    holder: Holder
    agent: Agent
    actor: Actor
    settled: Standing
    views: dict[int, RequestView]
    conversation: Conversation
    stopping: Callable[[], bool]
    go_on: Callable[[Closing], None] = _nowhere
    """What comes after a call that was given up, in a thread that has taken the place of the one inside the call."""
    allowed: set[int] = field(default_factory=set)
    bound: dict[int, Bound] = field(default_factory=dict)
    call_ids: set[str] = field(default_factory=set)
    ready: tuple[int, ModelRequest] | None = None
    """What the model will be asked at this step, built while the step was being opened."""
    last_turn_at: datetime | None = None
    slice: float = field(default_factory=lambda: float(settings.SLICE_SECONDS))
    max_repeats: int = field(default_factory=lambda: int(settings.MAX_REPEATS))
    max_steps: int = field(default_factory=lambda: int(settings.MAX_STEPS))
    """Where the agent names no number of its own."""
    model_timeout: float = field(default_factory=lambda: float(settings.MODEL_TIMEOUT))
    tool_timeout: float = field(default_factory=lambda: float(settings.TOOL_TIMEOUT))
    lease_margin: float = field(default_factory=lambda: float(settings.LEASE_MARGIN))
    inline: int = field(default_factory=lambda: int(settings.PAYLOAD_INLINE))
    """Bytes of a text that are kept in its row."""
    run_id: str = field(init=False)
    """The run's id as it is written."""
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.run_id = str(self.run)

    @property
    def tenant(self) -> UUID:
        return self.holder.lease.tenant

    @property
    def run(self) -> UUID:
        return self.holder.lease.run

    def clock(self) -> datetime:
        """The time by the database's clock."""
        return self.holder.now

    @property
    def journal(self) -> Journal:
        return self.holder.journal

    def tool(self, step: StepRow) -> Tool | None:
        """The tool of this step, if this version of the agent has it."""
        return self.agent.by_name.get(step.tool)

    def over(self) -> bool:
        """Whether this stretch should end at the next boundary: shutdown, or its time slice is used up."""
        return self.stopping() or time.monotonic() - self.began >= self.slice

    def renew(self) -> None:
        """Read again what others may have changed: rules, switches, requests, the journal itself."""
        self.allowed.clear()
        self.holder.refresh()
        self.see(gate.look(self.tenant, self.journal.run.subject))

    def see(self, look: Look) -> None:
        """Go on by what was just read."""
        self.settled, self.views = look.settled, look.views
        self.holder.told_time(look.now)

    def facts(self, views: dict[int, RequestView] | None = None) -> Facts:
        """What the plan reads beside the journal, as of now."""
        agent, now = self.agent, self.clock()
        requests = self.views if views is None else views
        return Facts(
            fence=self.holder.lease.fence,
            now=now,
            requests={seq: view.status for seq, view in requests.items()} if requests else {},
            allowed=self.allowed,
            parallel=agent.parallel,
            max_steps=agent.max_steps or self.max_steps,
            max_repeats=self.max_repeats,
            budget=widened(agent.budget, self.journal.run.budget),
            worked=time.monotonic() - self.began,
            observe=self._observe_due(now),
            window=agent.context_tokens,
        )

    def _observe_due(self, now: datetime) -> bool:
        after = self.agent.observe_again_after
        if after is None or not self.agent.observe or self.last_turn_at is None:
            return False
        return (now - self.last_turn_at).total_seconds() > after

    def whole(self, step: StepRow, name: str) -> str:
        """A text of a step, all of it, also where its row has only the beginning."""
        stored = (step.payloads or {}).get(name)
        if stored is None:
            return getattr(step, name) or ""
        return payloads.read(UUID(str(stored)), tenant=self.tenant).decode()


def widened(budget: Budget, extra: Any) -> Budget:
    """The agent's budget and what a person allowed beyond it."""
    if not extra:
        return budget
    return Budget(
        tokens=None if budget.tokens is None else budget.tokens + int(extra.get("tokens") or 0),
        cost=None if budget.cost is None else Decimal(budget.cost) + Decimal(str(extra.get("cost") or 0)),
        seconds=None if budget.seconds is None else budget.seconds + float(extra.get("seconds") or 0),
    )
