"""The programs this process knows: agents by name and version, found for a run that pinned one."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from threading import Lock
from typing import Any

from django.conf import settings

from runs import authors
from runs.errors import NotLoaded, NotRegistered
from runs.llm.base import Model, ToolSchema
from runs.tools import Tool


@dataclass(frozen=True)
class Budget:
    """Limits of one run: model tokens, cost in US dollars, working time in seconds; None is no limit."""

    tokens: int | None = None
    cost: Decimal | None = None
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class Agent:
    """One version of an agent. `model` is "provider:name" or an object with `respond(request)`.

    `fits` names older versions whose runs this one can take over. `observe_again_after` is in seconds since
    the last model turn; the functions of `observe` are then called as `f(ctx)` and told to the model.
    `context_tokens`: once a turn took so many, as its provider counts them (what was read and what was answered),
    the model is asked to sum up, and goes on from its first message and that summary. Leave room below the model's
    own window for the results of one turn. Where a provider reports no usage, four characters count as one token, for
    this and for a budget of tokens.
    """

    name: str
    version: str
    model: str | Model
    instructions: str
    tools: Sequence[Tool] = ()
    parallel: bool = True
    max_steps: int | None = None
    budget: Budget = field(default_factory=Budget)
    fits: Sequence[str] = ()
    observe_again_after: float | None = None
    observe: Sequence[Callable[..., Any]] = ()
    context_tokens: int | None = None

    @cached_property
    def by_name(self) -> dict[str, Tool]:
        return {each.name: each for each in self.tools}

    @cached_property
    def for_model(self) -> tuple[ToolSchema, ...]:
        return tuple(each.for_model for each in self.tools)

    @property
    def model_label(self) -> str:
        """The model's name for people; a scripted one says that it is."""
        return self.model if isinstance(self.model, str) else str(getattr(self.model, "label", "custom"))


class Registry:
    """Agents by name and version; later versions are tried first for what they fit."""

    def __init__(self) -> None:
        self._agents: dict[tuple[str, str], Agent] = {}
        self._lock = Lock()

    def add(self, agent: Agent) -> Agent:
        """Register; the same name and version again must be the same agent, else ValueError.

        Raises TypeError where the declaration is none: a tool that is not decorated, a version that is no text.
        """
        _check(agent)
        with self._lock:
            known = self._agents.get((agent.name, agent.version))
            if known is not None and _shape(known) != _shape(agent):
                raise ValueError(
                    f"Agent {agent.name} version {agent.version} is registered twice, differently. "
                    "Give the one that changed a version of its own."
                )
            self._agents[agent.name, agent.version] = agent
        return agent

    def __iter__(self) -> Iterator[Agent]:
        return iter(list(self._agents.values()))

    def find(self, name: str, version: str) -> Agent:
        """The agent that may advance a run pinned to `version`. Raises NotRegistered."""
        known = self._agents.get((name, version))
        if known is None:
            known = next((each for each in reversed(list(self)) if each.name == name and version in each.fits), None)
        if known is None:
            raise NotRegistered(f"This worker knows no version of {name} that can carry on version {version}.")
        return known


def _check(agent: Agent) -> None:
    for what, value in (("name", agent.name), ("version", agent.version)):
        if not isinstance(value, str) or not value:
            raise TypeError(f'Agent {agent.name}: {what}= is a text in quotes, such as "1", not {value!r}.')
    if isinstance(agent.model, str) and not all(agent.model.partition(":")):
        raise TypeError(f'Agent {agent.name}: model= is "provider:name" or an object, not {agent.model!r}.')
    for each in agent.tools:
        if not isinstance(each, Tool):
            raise TypeError(f"Agent {agent.name}: {_called(each)} is no tool. Put @tool(…) of runs.tools above it.")
    names = [each.name for each in agent.tools]
    for name in sorted({each for each in names if names.count(each) > 1}):
        raise ValueError(f"Agent {agent.name} has two tools named {name}. Rename one of the two functions.")


def _called(thing: object) -> str:
    return str(getattr(thing, "__name__", repr(thing)))


def _shape(agent: Agent) -> tuple[Any, ...]:
    return (agent.instructions, agent.model_label, [each.fingerprint for each in agent.tools])


registry = Registry()


def register(agent: Agent) -> Agent:
    """Make an agent known to this process and return it."""
    return registry.add(agent)


def load() -> None:
    """Import every module of AGENT_MODULES, which register what they have; again is harmless.

    Raises NotLoaded, which says where in its authors' code the first one went wrong that cannot be imported.
    """
    for name in settings.AGENT_MODULES:
        try:
            importlib.import_module(name)
        except Exception as error:
            said = authors.told(name, error)
            raise NotLoaded(f"{said} {authors.mended(said)}") from error
