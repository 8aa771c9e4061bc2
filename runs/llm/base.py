"""The shapes between the engine and any model: one request, one response."""

import uuid
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, Protocol


@dataclass(frozen=True)
class ToolCall:
    """One call the model wants; `arguments` is its own text, exactly as it wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One entry of the conversation; a `tool` message answers the call named by `call_id`."""

    role: Literal["user", "assistant", "tool"]
    text: str
    tool_calls: Sequence[ToolCall] = ()
    call_id: str | None = None


@dataclass(frozen=True)
class ToolSchema:
    """A tool as the model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Usage:
    """What one answer used, in model tokens; `cost` in US dollars where the provider reports it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None


@dataclass(frozen=True)
class ModelRequest:
    """Everything the model is told; `turn` counts the run's model turns from 0 and survives retries."""

    instructions: str
    messages: Sequence[Message]
    tools: Sequence[ToolSchema]
    run_id: uuid.UUID
    turn: int


@dataclass(frozen=True)
class ModelResponse:
    """The model's answer. One without calls ends the run, and its text is the run's result."""

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    finish_reason: str = "stop"
    usage: Usage | None = None


class Model(Protocol):
    """Anything that answers; `respond` may be plain or async and may raise the errors of `runs.errors`."""

    def respond(self, request: ModelRequest) -> ModelResponse | Awaitable[ModelResponse]: ...
