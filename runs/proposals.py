"""What the calls of one answer become: steps that may run, wait for people, or are declined on the spot."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from runs import gate, states
from runs.agents import Agent
from runs.arguments import BadArguments, Bound
from runs.entries import Journal, Planned, StepRow
from runs.failures import storable
from runs.gate import Standing, Wanted
from runs.llm.base import ModelResponse, ToolCall
from runs.plan import refusals
from runs.tools import Tool

LONGEST_ID = 200
LONGEST_ARGUMENTS = 1 << 20


class Proposal(NamedTuple):
    """One call as it will be written down; `bound` where it is valid, `allowed` where it may run at once."""

    planned: Planned
    bound: Bound | None = None
    allowed: bool = False


class Reading(NamedTuple):
    """What reading an answer needs: whose it is, what is recorded, and what the tenant has settled."""

    agent: Agent
    journal: Journal
    turn: StepRow
    settled: Standing
    now: datetime
    max_repeats: int


class Asked(NamedTuple):
    """One call of the answer, under the id and the number that its step gets."""

    call: ToolCall
    call_id: str
    seq: int


class Valid(NamedTuple):
    """A call of a known tool whose arguments fit."""

    asked: Asked
    tool: Tool
    bound: Bound
    digest: str


def proposals(response: ModelResponse, reading: Reading, *, used_ids: Collection[str]) -> list[Proposal]:
    """The calls of the answer in their order, numbered from `journal.next_seq`."""
    given = list(response.tool_calls or ())
    ids = [call.id for call in given if isinstance(call.id, str)]
    taken = set(ids)
    shared = {name for name, times in Counter(ids).items() if times > 1} if len(taken) < len(ids) else set()
    made: list[Proposal] = []
    for seq, call in enumerate(given, reading.journal.next_seq):
        broken = _broken_id(call, shared)
        asked = Asked(call, _own_id(seq, taken, used_ids) if broken or call.id in used_ids else call.id, seq)
        taken.add(asked.call_id)
        made.append(_declined(asked, reading, broken) if broken else _proposal(asked, reading))
    return made


def _own_id(seq: int, *taken: Collection[str]) -> str:
    """An id of ours that nobody has in this run, also where the model writes ids like it."""
    name = f"call_{seq}"
    while any(name in each for each in taken):
        name += "_"
    return name


def _broken_id(call: ToolCall, shared: Collection[str]) -> str:
    """Why the call cannot be told from others, or nothing."""
    if not isinstance(call.id, str) or not call.id.strip() or len(call.id) > LONGEST_ID or not call.id.isprintable():
        return "The call has no usable id. It was not run; send it again with one of its own."
    if call.id in shared:
        return f"Several calls of one answer have the id {call.id}. None of them was run; give each its own."
    return ""


def _proposal(asked: Asked, reading: Reading) -> Proposal:
    tool = reading.agent.by_name.get(asked.call.name) if isinstance(asked.call.name, str) else None
    if tool is None:
        known = ", ".join(reading.agent.by_name) or "none"
        return _declined(asked, reading, f"There is no tool named {asked.call.name!r}. The tools are: {known}.")
    try:
        bound = _bind(tool, asked.call)
    except BadArguments as error:
        return _declined(asked, reading, f"The arguments are not valid, so {tool.name} was not run. {error}")
    return _judged(Valid(asked, tool, bound, gate.digest_of(tool, bound.plain)), reading)


def _bind(tool: Tool, call: ToolCall) -> Bound:
    if not isinstance(call.arguments, str) or len(call.arguments) > LONGEST_ARGUMENTS:
        raise BadArguments([("", "They must be JSON text of at most one million characters.")])
    return tool.bind(call.arguments)


def _judged(valid: Valid, reading: Reading) -> Proposal:
    if told := _refused_before(valid, reading):
        return Proposal(_planned(valid, reading, declined=told))
    if known := _known(valid, reading):
        return known
    proposed = gate.proposed(_wanted(valid, reading), reading.settled)
    requirement = gate.judge(proposed, reading.settled, now=reading.now)
    denied = ""
    if requirement.outcome == "deny":
        denied = gate.why_denied(proposed, reading.settled, requirement)
    planned = _planned(valid, reading, declined=denied, message=proposed.summary)
    return Proposal(planned, valid.bound, allowed=requirement.outcome == "allow")


def _known(valid: Valid, reading: Reading) -> Proposal | None:
    """What becomes of it, where neither the rules nor anybody who is told of a refusal looks at the call itself."""
    known = gate.known(valid.tool, reading.agent, reading.settled)
    if known is None or known.outcome == "deny":
        return None
    planned = _planned(valid, reading, message=valid.tool.sentence(valid.bound.plain))
    return Proposal(planned, valid.bound, allowed=known.outcome == "allow")


def _wanted(valid: Valid, reading: Reading) -> Wanted:
    return Wanted(
        run=reading.journal.run,
        agent=reading.agent,
        tool=valid.tool,
        seq=valid.asked.seq,
        proposed=valid.asked.call.arguments,
        arguments=valid.bound.text,
        digest=valid.digest,
        rationale=valid.bound.rationale,
        plain=valid.bound.plain,
    )


def _refused_before(valid: Valid, reading: Reading) -> str:
    times = refusals(reading.journal, valid.tool.name, valid.digest, before=valid.asked.seq)
    if times < reading.max_repeats:
        return ""
    return f"This very call was refused {times} times. It was not run and nobody was asked again; do something else."


def _planned(valid: Valid, reading: Reading, *, declined: str = "", message: str = "") -> Planned:
    return Planned(
        kind=states.TOOL_CALL,
        tool=valid.tool.name,
        effect=valid.tool.effect.value,
        call_id=valid.asked.call_id,
        digest=valid.digest,
        turn=reading.turn.seq,
        proposed=storable(valid.asked.call.arguments),
        arguments=valid.bound.text,
        rationale=storable(valid.bound.rationale) or None,
        result=declined or None,
        declined="refused" if declined else "",
        message=message or valid.tool.title,
    )


def _declined(asked: Asked, reading: Reading, why: str) -> Proposal:
    name = storable(asked.call.name)[:LONGEST_ID]
    planned = Planned(
        kind=states.TOOL_CALL,
        tool=name,
        call_id=asked.call_id,
        turn=reading.turn.seq,
        proposed=storable(asked.call.arguments)[:LONGEST_ARGUMENTS],
        result=storable(why),
        declined="invalid",
        message=f"A call of {name} that cannot run",
    )
    return Proposal(planned)
