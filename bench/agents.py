"""The agents that are measured: their models and tools do nothing, so that what is left is the engine."""

import os
import time
from pathlib import Path

from celery import shared_task

from runs.agents import Agent, register
from runs.llm.base import ModelRequest, ModelResponse, ToolCall
from runs.tools import Effect, Risk, ToolContext, tool

TURNS = 50


@tool(effect=Effect.KEYED, risk=Risk.LOW, summary="Do nothing with {number}")
def nothing(_ctx: ToolContext, *, number: int) -> dict[str, int]:
    """Do nothing, and say so."""
    return {"done": number}


@tool(effect=Effect.KEYED, risk=Risk.HIGH, summary="Tell the time of {number}")
def stamped(_ctx: ToolContext, *, number: int) -> dict[str, int]:
    """Leave the time of the first line in a file, for whoever waits for it."""
    _leave(number)
    return {"done": number}


class Turns:
    """Asks for one call a turn, `turns` times, then ends."""

    label = "scripted"

    def __init__(self, name: str, turns: int) -> None:
        self.name, self.turns = name, turns

    def respond(self, request: ModelRequest) -> ModelResponse:
        """The next call, or the end."""
        if request.turn >= self.turns:
            return ModelResponse(text="done")
        arguments = f'{{"number": {request.messages[0].text if self.turns == 1 else request.turn}}}'
        return ModelResponse(tool_calls=[ToolCall(f"call-{request.turn}", self.name, arguments)])


register(Agent("steps", "1", model=Turns("nothing", TURNS), instructions="", tools=[nothing], max_steps=10_000))
register(Agent("gated", "1", model=Turns("stamped", 1), instructions="", tools=[stamped]))


@shared_task(name="bench.stamp", ignore_result=True)
def stamp(number: int) -> None:
    """What Celery alone does between a message and a task's first line."""
    _leave(number)


def _leave(number: int) -> None:
    now = time.time_ns()
    with Path(os.environ["BENCH_STAMPS"]).open("a") as file:
        file.write(f"{number} {now}\n")
