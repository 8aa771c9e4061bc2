"""The agent `script` plays the turns in its own input; its tools have every effect and misbehave when told.

Input: `{"turns": [turn, …], "end": text}`. A turn is a list of calls `{"tool", "args", "id"?}` (`args` an object, or
text as the model would write it), a text, or `{"fail": how, "times": n, "then": turn}`.
"""

import json
import os
import signal
import time
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction

from runs.agents import Agent, Budget, register
from runs.context import SUMMARISE
from runs.errors import InvalidArguments, ModelRefused, OutcomeUnknown, PermissionRefused, RateLimited, Transient
from runs.llm.base import ModelRequest, ModelResponse, ToolCall, Usage
from runs.tools import Effect, Found, NotFound, Risk, ToolContext, tool
from tenants import prepared
from tenants.scope import scope
from tests.agents import ledger


class Mute(Exception):
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


FAILURES: dict[str, BaseException] = {
    "transient": Transient("not now"),
    "limited": RateLimited("slower", retry_after=0.3),
    "an hour": RateLimited("the quota is used up", retry_after=3600),
    "lost": ConnectionResetError("the connection broke before the answer came"),
    "invalid": InvalidArguments("no such order"),
    "permission": PermissionRefused("the key may not do this"),
    "unknown": OutcomeUnknown("no idea"),
    "refused": ModelRefused("the key is wrong", cause="permission"),
    "timeout": TimeoutError("no answer"),
    "bug": ValueError("a bug"),
    "quit": SystemExit(3),
    "mute": Mute(),
    "soon": RateLimited("slower", retry_after="soon"),  # type: ignore[arg-type]
}


STRANGE = Usage(input_tokens=-5, output_tokens=2**80, cost=Decimal("NaN"))


LEFT: list[Any] = []
"""Scopes that calls have opened and not closed."""


def play(request: ModelRequest) -> ModelResponse:
    """The turn that the run's input says."""
    script = json.loads(request.messages[0].text)
    told = [message.text for message in request.messages[1:]]
    ledger.enter(run=str(request.run_id), kind="model", turn=request.turn, told=told, calls=_calls_seen(request))
    answer = _answer(request, script)
    if script.get("usage") == "untold":
        return replace(answer, usage=None)
    if answer.usage and "price" in script:
        return replace(answer, usage=replace(answer.usage, cost=Decimal(script["price"])))
    return answer


def _answer(request: ModelRequest, script: dict[str, Any]) -> ModelResponse:
    if request.messages[-1].text == SUMMARISE:
        return _summary(request, script.get("summary", "ok"))
    turns = script["turns"]
    turn = turns[request.turn] if request.turn < len(turns) else script.get("end", "done")
    return _response(request, turn)


def _summary(request: ModelRequest, how: str) -> ModelResponse:
    """Sum up, by the number of messages; misbehave before, as often as `how` says (`die:1`, `empty:2`)."""
    verb, _, times = how.partition(":")
    asked = [line for line in ledger.asked(request.run_id) if line["told"][-1:] == [SUMMARISE]]
    if verb != "ok" and len(asked) <= int(times):
        _die_if(verb)
        return ModelResponse(text="", usage=Usage(input_tokens=3, output_tokens=0))
    return ModelResponse(text=f"{len(request.messages)} messages", usage=Usage(input_tokens=3, output_tokens=2))


def _calls_seen(request: ModelRequest) -> list[list[str]]:
    return [[call.id, call.name, call.arguments] for message in request.messages for call in message.tool_calls]


def _response(request: ModelRequest, turn: Any) -> ModelResponse:
    usage = STRANGE if turn == "strange usage" else Usage(input_tokens=10, output_tokens=5)
    if isinstance(turn, str):
        return ModelResponse(text=turn, usage=usage)
    if isinstance(turn, dict):
        return _failing(request, turn)
    calls = [_call(request, place, each) for place, each in enumerate(turn)]
    return ModelResponse(tool_calls=calls, finish_reason="tool_calls", usage=usage)


def _failing(request: ModelRequest, turn: dict[str, Any]) -> ModelResponse:
    if turn["fail"] == "door":
        if not ledger.admit(request.run_id, per_second=5):
            raise RateLimited("too many at once")
        return _response(request, turn["then"])
    tries = sum(line["turn"] == request.turn for line in ledger.asked(request.run_id))
    if tries <= turn.get("times", 1):
        _die_if(turn["fail"])
        if turn["fail"] == "hold":
            _hold(request.run_id)
        elif turn["fail"].startswith("sleep:"):
            time.sleep(float(turn["fail"].partition(":")[2]))
        else:
            raise FAILURES[turn["fail"]]
    return _response(request, turn["then"])


def _hold(run: Any) -> None:
    while not ledger.entries(run, "let go"):
        time.sleep(0.02)


def _die_if(verb: str) -> None:
    """Kill this worker, after a moment in which whatever else dies with it has come as far as its own act."""
    if verb == "die":
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)


def _call(request: ModelRequest, place: int, each: dict[str, Any]) -> ToolCall:
    args = each.get("args", {})
    text = args if isinstance(args, str) else json.dumps({**args, "rationale": each.get("why", "because")})
    if each["tool"] == "look":
        text = args if isinstance(args, str) else json.dumps(args)
    return ToolCall(each.get("id", f"c{request.turn}-{place}"), each["tool"], text)


def _act(ctx: ToolContext, name: str, how: str, **args: Any) -> dict[str, Any]:
    """Enter the act in the ledger, then do as told: `ok`, `sleep:s`, `hold` (until the test lets the run go), or
    `<failure>:<times>`, `die:<times>`; `open` leaves a transaction open, `swap` and `put off` do worse."""
    before = len([line for line in ledger.acts(ctx.run_id, name) if line["step"] == ctx.step])
    ledger.enter(
        run=str(ctx.run_id),
        kind="act",
        tool=name,
        step=ctx.step,
        attempt=ctx.attempt,
        key=ctx.idempotency_key,
        args={key: str(value) for key, value in args.items()},
        pid=os.getpid(),
    )
    verb, _, number = how.partition(":")
    if verb == "sleep":
        time.sleep(float(number))
    elif verb == "hold":
        _hold(ctx.run_id)
    elif verb == "progress":
        for done in range(int(number)):
            ctx.progress("counted", done=done + 1, total=int(number))
            time.sleep(0.01)
    elif verb == "mumble":
        ctx.progress("a\0b\ud800" * 10_000, done=2**80, total="many")  # type: ignore[arg-type]
    elif verb == "open":
        transaction.set_autocommit(False)
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    elif verb == "swap":
        del connections[DEFAULT_DB_ALIAS]
    elif verb == "put off":
        left = scope(ctx.tenant)
        left.__enter__()
        LEFT.append(left)
        prepared.later("SELECT 1 / $1::int", ("0",))
    elif verb != "ok" and before < int(number or 1):
        _die_if(verb)
        raise FAILURES[verb]
    return {"tool": name, **{key: str(value) for key, value in args.items()}}


@tool(effect=Effect.READ, risk=Risk.LOW, summary="Look at {what}")
def look(ctx: ToolContext, *, what: str = "it", how: str = "ok") -> dict[str, Any]:
    """Look at something."""
    return _act(ctx, "look", how, what=what)


@tool(effect=Effect.IDEMPOTENT, risk=Risk.LOW, summary="Set {what}")
def set_it(ctx: ToolContext, *, what: str = "it", how: str = "ok") -> dict[str, Any]:
    """Set something to a value; again is the same."""
    return _act(ctx, "set_it", how, what=what)


@tool(effect=Effect.KEYED, risk=Risk.LOW, summary="Pay {amount}")
def pay(ctx: ToolContext, *, amount: int = 1, how: str = "ok") -> dict[str, Any]:
    """Pay, under a key that the far side honours."""
    return _act(ctx, "pay", how, amount=amount)


@tool(effect=Effect.KEYED, risk=Risk.HIGH, summary="Refund {amount}", version=os.environ.get("TOOL_GENERATION", "1"))
def refund(ctx: ToolContext, *, amount: int = 1, how: str = "ok") -> dict[str, Any]:
    """Pay back; a person must say yes."""
    return _act(ctx, "refund", how, amount=amount)


def _delivered(ctx: ToolContext, *, what: str, how: str) -> Found | NotFound:
    if how.startswith("blind"):
        raise OutcomeUnknown("The carrier does not say.")
    found = any(line["step"] == ctx.step for line in ledger.acts(ctx.run_id, "deliver"))
    return Found({"delivered": what}) if found else NotFound()


@tool(effect=Effect.LOOKUP, risk=Risk.LOW, summary="Deliver {what}", lookup=_delivered, timeout=1)
def deliver(ctx: ToolContext, *, what: str = "it", how: str = "ok") -> dict[str, Any]:
    """Deliver; the carrier can be asked afterwards."""
    return _act(ctx, "deliver", "die:9" if how == "blind" else how, what=what)


@tool(effect=Effect.MANUAL, risk=Risk.LOW, summary="Send {what}", timeout=2)
def send(ctx: ToolContext, *, what: str = "it", how: str = "ok") -> dict[str, Any]:
    """Send; nobody can say afterwards."""
    return _act(ctx, "send", how, what=what)


@tool(effect=Effect.MANUAL, risk=Risk.LOW, summary="Sign {what}", timeout=120)
def sign(ctx: ToolContext, *, what: str = "it", how: str = "ok") -> dict[str, Any]:
    """Sign, which takes its time; nobody can say afterwards."""
    return _act(ctx, "sign", how, what=what)


@tool(effect=Effect.MANUAL, risk=Risk.HIGH, summary="Post {what}", timeout=2)
def post(ctx: ToolContext, *, what: str = "it", how: str = "ok") -> dict[str, Any]:
    """Post; nobody can say afterwards, and a person must say yes."""
    return _act(ctx, "post", how, what=what)


@tool(effect=Effect.READ, risk=Risk.LOW, summary="Return a large or strange result")
def fetch(ctx: ToolContext, *, size: int = 0, strange: str = "", how: str = "ok") -> Any:
    """Give back what storage finds hard."""
    strange_ones: dict[str, Any] = {"nan": float("nan"), "nul": "a\x00b", "half": "\ud800", "big": 2**63 + 1}
    ledger.enter(run=str(ctx.run_id), kind="act", tool="fetch", step=ctx.step)
    if how == "hold":
        _hold(ctx.run_id)
    return strange_ones[strange] if strange else "🙂" * size


def _balance(ctx: ToolContext, *, amount: int, how: str) -> int:
    if how == "nan":
        return float("nan")  # type: ignore[return-value]
    return sum(1 for line in ledger.entries("balance", "balance") if line["of"] == amount)


@tool(
    effect=Effect.KEYED,
    risk=Risk.HIGH,
    summary="Withdraw {amount}",
    precondition=_balance,
    evidence=lambda ctx, amount, how: {"seen": amount},
)
def withdraw(ctx: ToolContext, *, amount: int = 1, how: str = "ok") -> dict[str, Any]:
    """Withdraw while the balance is what the reviewer saw."""
    return _act(ctx, "withdraw", how, amount=amount)


TOOLS = [look, set_it, pay, refund, deliver, send, sign, post, fetch, withdraw]


class Player:
    """The model of the script."""

    label = "scripted"

    def respond(self, request: ModelRequest) -> ModelResponse:
        """Play the turn."""
        return play(request)


GENERATION = os.environ.get("AGENT_GENERATION", "1")
FITS = tuple(os.environ.get("AGENT_FITS", "").split())
register(
    Agent(name="script", version=GENERATION, model=Player(), instructions="Play the script.", tools=TOOLS, fits=FITS)
)
register(Agent(name="one-by-one", version="1", model=Player(), instructions="", tools=TOOLS, parallel=False))
register(
    Agent(
        name="observer",
        version="1",
        model=Player(),
        instructions="",
        tools=TOOLS,
        observe_again_after=0.2,
        observe=[lambda ctx: {"world": "as it is"}],
    )
)
register(Agent(name="short", version="1", model=Player(), instructions="", tools=TOOLS, max_steps=6))
for name, budget in {
    "thrifty": Budget(tokens=40),
    "frugal": Budget(cost=Decimal("0.6")),
    "hurried": Budget(seconds=0.6),
}.items():
    register(Agent(name=name, version="1", model=Player(), instructions="", tools=TOOLS, budget=budget))
register(Agent(name="forgetful", version="1", model=Player(), instructions="", tools=TOOLS, context_tokens=15))
