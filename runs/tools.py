"""What an agent may call: a function with an effect on the world, a risk, and a sentence for the reviewer."""

import asyncio
import inspect
import string
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from typing import IO, Any, TypeVar

from approvals.calls import sentence
from runs.arguments import BadArguments, Bound, Signature, no_context
from runs.llm.base import ToolSchema
from tenants import exact_json

K = TypeVar("K", bound=StrEnum)
DAY = timedelta(hours=24)
Content = bytes | IO[bytes] | Iterable[bytes]
UNFIT = "The value does not fit the schema; it is sensitive and not repeated here."


class Effect(StrEnum):
    """How a tool touches the world, and so what may follow a crash inside it.

    `READ` changes nothing. `IDEMPOTENT` may be repeated as it is. `KEYED` may be repeated under the same
    `ctx.idempotency_key`. `LOOKUP` can be asked afterwards whether it happened. `MANUAL` can be none of these:
    a person settles what is unknown.
    """

    READ = "read"
    IDEMPOTENT = "idempotent"
    KEYED = "keyed"
    LOOKUP = "lookup"
    MANUAL = "manual"


class Risk(StrEnum):
    """How much a call may cost; a tenant may raise a tool's risk, never lower it."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    def at_least(self, other: "str | Risk | None") -> "Risk":
        """The higher of the two."""
        if not other:
            return self
        order = list(Risk)
        return max(self, Risk(other), key=order.index)


@dataclass(frozen=True)
class Found:
    """A lookup's answer: the call happened, with this result."""

    result: Any = None


@dataclass(frozen=True)
class NotFound:
    """A lookup's answer: the call did not happen and will not happen any more by itself."""


@dataclass(frozen=True)
class ToolContext:
    """What a running call knows about itself, and its three doors to the outside."""

    tenant: uuid.UUID
    run_id: uuid.UUID
    step: int
    attempt: int
    idempotency_key: str
    _progress: Callable[[str, int | None, int | None], None] = field(repr=False)
    _store: Callable[[Content, str], str] = field(repr=False)
    _secret: Callable[[str], str] = field(repr=False)

    def progress(self, message: str, done: int | None = None, total: int | None = None) -> None:
        """Tell the people who watch a fact, such as "read 12 of 20 files"; at most one a second is kept."""
        self._progress(message, done, total)

    def store(self, content: Content, media_type: str) -> str:
        """Keep a large content with the run and return its reference; a file is read part by part, and left open."""
        return self._store(content, media_type)

    def secret(self, name: str) -> str:
        """The tenant's own credential. It is never shown to the model. Raises PermissionRefused if unset."""
        return self._secret(name)


@dataclass(frozen=True, eq=False)
class Tool:
    """A registered function; `function(ctx, **arguments)` still works as if it were not decorated."""

    function: Callable[..., Any] = field(repr=False)
    effect: Effect
    risk: Risk
    summary: str
    title: str
    sensitive: tuple[str, ...] = ()
    lookup: Callable[..., Any] | None = None
    precondition: Callable[..., Any] | None = None
    evidence: Callable[..., Any] | None = None
    undo: str | None = None
    timeout: float | None = None
    key_lifetime: float = DAY.total_seconds()
    max_attempts: int | None = None
    version: str = "1"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @cached_property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def description(self) -> str:
        return inspect.getdoc(self.function) or self.title

    @cached_property
    def signature(self) -> Signature:
        return Signature(self.function)

    @cached_property
    def definition(self) -> dict[str, Any]:
        """Everything a reviewer relies on, as JSON; the fingerprint covers all of it but itself."""
        shown = self._shown()
        return {**shown, "fingerprint": exact_json.digest(shown)}

    @property
    def fingerprint(self) -> str:
        """A digest that changes whenever the tool becomes another one in a reviewer's eyes."""
        return str(self.definition["fingerprint"])

    @cached_property
    def for_model(self) -> ToolSchema:
        """The tool as the model sees it; every tool but a `read` one asks for a rationale."""
        asks = self.effect is not Effect.READ
        parameters = self.signature.asking_why() if asks else self.signature.schema
        return ToolSchema(name=self.name, description=self.description, parameters=parameters)

    def bind(self, text: str) -> Bound:
        """Validate what the model wrote. Raises `runs.arguments.BadArguments`."""
        try:
            return self.signature.bind(text)
        except BadArguments as error:
            raise self._discreet(error) from None

    def read(self, text: str) -> Bound:
        """Validate a bound text again, as before an act. Raises `runs.arguments.BadArguments`."""
        try:
            return self.signature.read(text)
        except BadArguments as error:
            raise self._discreet(error) from None

    def _discreet(self, error: BadArguments) -> BadArguments:
        """Let no refusal of arguments repeat a sensitive value."""
        told = [(at, UNFIT if at.partition(".")[0] in self.sensitive else text) for at, text in error.errors]
        return BadArguments(told)

    def sentence(self, arguments: Mapping[str, Any]) -> str:
        """The summary about these bound arguments, sensitive ones masked."""
        return sentence(self.summary, arguments, sensitive=self.sensitive)

    def _shown(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "summary": self.summary,
            "parameters": self.signature.schema,
            "effect": self.effect.value,
            "risk": self.risk.value,
            "sensitive": list(self.sensitive),
            "undo": self.undo,
            "version": self.version,
            "timeout": None if self.timeout is None else str(self.timeout),
            "looked_up": self.lookup is not None,
            "precondition": self.precondition is not None,
            "evidence": self.evidence is not None,
        }


def tool(
    *,
    effect: Effect,
    risk: Risk,
    summary: str,
    title: str | None = None,
    sensitive: Sequence[str] = (),
    lookup: Callable[..., Any] | None = None,
    precondition: Callable[..., Any] | None = None,
    evidence: Callable[..., Any] | None = None,
    undo: str | None = None,
    timeout: float | timedelta | None = None,
    key_lifetime: float | timedelta = DAY,
    max_attempts: int | None = None,
    version: str = "1",
) -> Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool; times are in seconds, or a `timedelta`.

    `summary` is a sentence with parameters in braces. `lookup(ctx, **arguments)` returns Found or NotFound.
    Raises TypeError where the declaration contradicts itself.
    """

    def decorate(function: Callable[..., Any]) -> Tool:
        made = Tool(
            function=function,
            effect=_one_of(Effect, effect, of=function),
            risk=_one_of(Risk, risk, of=function),
            summary=summary,
            title=title or function.__name__.replace("_", " ").capitalize(),
            sensitive=tuple(sensitive),
            lookup=lookup,
            precondition=precondition,
            evidence=evidence,
            undo=undo,
            timeout=None if timeout is None else _seconds(timeout, "timeout", of=function),
            key_lifetime=_seconds(key_lifetime, "key_lifetime", of=function),
            max_attempts=max_attempts,
            version=version,
        )
        _check(made)
        return made

    return decorate


def _one_of(kind: type[K], value: Any, *, of: Callable[..., Any]) -> K:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(f"{kind.__name__}.{each.name}" for each in kind)
        raise TypeError(f"{_name(of)}: {kind.__name__.lower()}= is one of {known}, not {value!r}.") from None


def _seconds(value: Any, what: str, *, of: Callable[..., Any]) -> Any:
    """A duration as it was written, for it is part of the fingerprint; a `timedelta` in seconds."""
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if not isinstance(seconds, int | float) or not seconds >= 0:
        raise TypeError(f"{_name(of)}: {what}= is a number of seconds or a timedelta, not {value!r}.")
    return seconds


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", function))


def _check(made: Tool) -> None:
    names = made.signature.names
    if made.effect is Effect.LOOKUP and made.lookup is None:
        raise TypeError(f"{made.name}: effect lookup needs lookup=, a function that says whether it happened.")
    if made.effect in (Effect.LOOKUP, Effect.MANUAL) and made.timeout is None:
        raise TypeError(f"{made.name}: effect {made.effect} needs timeout=, the seconds after which it surely ended.")
    if strange := set(made.sensitive) - set(names):
        raise TypeError(f"{made.name}: sensitive= names no parameter: {', '.join(sorted(strange))}. It is a list.")
    for name in _named(made):
        if name == next(iter(inspect.signature(made.function).parameters)):
            raise TypeError(no_context(made.function, name))
        if name not in names:
            raise TypeError(
                f"{made.name}: the summary names {{{name}}}, which is none of its parameters ({_list(names)})."
            )


def _named(made: Tool) -> list[str]:
    """What the summary has in braces."""
    if not isinstance(made.summary, str):
        raise TypeError(f"{made.name}: summary= is a sentence with parameters in braces, not {made.summary!r}.")
    try:
        return [name for _, name, _, _ in string.Formatter().parse(made.summary) if name is not None]
    except ValueError as error:
        raise TypeError(f"{made.name}: the summary cannot be read: {error}. Write {{{{ for a brace.") from None


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def invoke(function: Callable[..., Any], ctx: ToolContext, arguments: Mapping[str, Any]) -> Any:
    """Call a plain or async function and return what it gave; errors pass through."""
    answer = function(ctx, **arguments)
    return asyncio.run(answer) if inspect.iscoroutine(answer) else answer
