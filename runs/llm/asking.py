"""One question to whatever an agent names as its model."""

import asyncio
import importlib
import inspect
from typing import cast

from runs.errors import ModelRefused
from runs.llm.base import Model, ModelRequest, ModelResponse


def ask(model: str | Model, request: ModelRequest) -> ModelResponse:
    """Ask once and return the answer; every failure is raised, nothing is tried again here."""
    chosen = _provider(model) if isinstance(model, str) else model
    answer = chosen.respond(request)
    if isinstance(answer, ModelResponse):
        return answer
    if inspect.isawaitable(answer):
        answer = asyncio.run(_await(answer))
    if not isinstance(answer, ModelResponse):
        raise ModelRefused(f"The model answered with a {type(answer).__name__}, not a ModelResponse.")
    return answer


def warm(model: str | Model) -> None:
    """Load what asking this model needs, so that the first question does not wait for it."""
    if isinstance(model, str):
        _provider(model)


async def _await(answer: object) -> ModelResponse:
    return cast("ModelResponse", await answer)  # type: ignore[misc]


def _provider(name: str) -> Model:
    """Loaded when first named: providers weigh a second of start-up that scripted agents need not pay."""
    module = importlib.import_module("runs.llm.providers")
    return cast("Model", module.provider(name))
