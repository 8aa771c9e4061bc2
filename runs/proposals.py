"""What the calls of one answer become: steps that may run, wait for people, or are declined on the spot."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

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


@dataclass(frozen=True)
class Proposal:
    """One call as it will be written down; `bound` where it is valid, `allowed` where it may run at once."""

    planned: Planned
    bound: Bound | None = None
    allowed: bool = False


@dataclass(frozen=True)
class Reading:
    """What reading an answer needs: whose it is, what is recorded, and what the tenant has settled."""

    agent: Agent
    journal: Journal
    turn: StepRow
    settled: Standing
    now: datetime
    max_repeats: int


def proposals(response: ModelResponse, reading: Reading, *, used_ids: Collection[str]) -> list[Proposal]:
    """The calls of the answer in their order, numbered from `journal.next_seq`."""
    given = list(response.tool_calls or ())
    shared = {name for name, times in Counter(call.id for call in given).items() if times > 1}
    made: list[Proposal] = []
    for place, call in enumerate(given):
        seq = reading.journal.next_seq + place
        broken = _broken_id(call, shared)
        call_id = f"call_{seq}" if broken or call.id in used_ids else call.id
        made.append(_declined(call, call_id, reading, broken) if broken else _proposal(call, call_id, seq, reading))
    return made


def _broken_id(call: ToolCall, shared: Collection[str]) -> str:
    """Why the call cannot be told from others, or nothing."""
    if not isinstance(call.id, str) or not call.id.strip() or len(call.id) > LONGEST_ID or not call.id.isprintable():
        return "The call has no usable id. It was not run; send it again with one of its own."
    if call.id in shared:
        return f"Several calls of one answer have the id {call.id}. None of them was run; give each its own."
    return ""


def _proposal(call: ToolCall, call_id: str, seq: int, reading: Reading) -> Proposal:
    tool = reading.agent.by_name.get(call.name)
    if tool is None:
        known = ", ".join(reading.agent.by_name) or "none"
        return _declined(call, call_id, reading, f"There is no tool named {call.name!r}. The tools are: {known}.")
    try:
        bound = _bind(tool, call)
    except BadArguments as error:
        return _declined(call, call_id, reading, f"The arguments are not valid, so {tool.name} was not run. {error}")
    return _judged(call, call_id, seq, reading, tool, bound)


def _bind(tool: Tool, call: ToolCall) -> Bound:
    if not isinstance(call.arguments, str) or len(call.arguments) > LONGEST_ARGUMENTS:
        raise BadArguments([("", "They must be JSON text of at most one million characters.")])
    return tool.bind(call.arguments)


def _judged(call: ToolCall, call_id: str, seq: int, reading: Reading, tool: Tool, bound: Bound) -> Proposal:
    digest = gate.digest(tool, bound.text)
    if told := _refused_before(reading, tool, digest, seq):
        return Proposal(_planned(call, call_id, reading, tool, bound, digest, declined=told))
    wanted = Wanted(
        run=reading.journal.run,
        agent=reading.agent,
        tool=tool,
        seq=seq,
        proposed=call.arguments,
        arguments=bound.text,
        digest=digest,
        rationale=bound.rationale,
    )
    proposed = gate.proposed(wanted, reading.settled)
    requirement = gate.judge(proposed, reading.settled, now=reading.now)
    denied = ""
    if requirement.outcome == "deny":
        denied = gate.why_denied(proposed, reading.settled, requirement)
    planned = _planned(call, call_id, reading, tool, bound, digest, declined=denied, message=proposed.summary)
    return Proposal(planned, bound, allowed=requirement.outcome == "allow")


def _refused_before(reading: Reading, tool: Tool, digest: str, seq: int) -> str:
    times = refusals(reading.journal, tool.name, digest, before=seq)
    if times < reading.max_repeats:
        return ""
    return f"This very call was refused {times} times. It was not run and nobody was asked again; do something else."


def _planned(
    call: ToolCall,
    call_id: str,
    reading: Reading,
    tool: Tool,
    bound: Bound,
    digest: str,
    *,
    declined: str = "",
    message: str = "",
) -> Planned:
    return Planned(
        kind=states.TOOL_CALL,
        tool=tool.name,
        effect=tool.effect.value,
        call_id=call_id,
        digest=digest,
        turn=reading.turn.seq,
        proposed=storable(call.arguments),
        arguments=bound.text,
        rationale=storable(bound.rationale) or None,
        result=declined or None,
        declined="refused" if declined else "",
        message=message or tool.title,
    )


def _declined(call: ToolCall, call_id: str, reading: Reading, why: str) -> Proposal:
    name = storable(call.name)[:LONGEST_ID]
    planned = Planned(
        kind=states.TOOL_CALL,
        tool=name,
        call_id=call_id,
        turn=reading.turn.seq,
        proposed=storable(call.arguments)[:LONGEST_ARGUMENTS],
        result=storable(why),
        declined="invalid",
        message=f"A call of {name} that cannot run",
    )
    return Proposal(planned)


def foreseen(journal: Journal, made: Sequence[Proposal]) -> list[StepRow]:
    """The steps these proposals will be once recorded, for planning ahead of the commit."""
    return [_row(journal.next_seq + place, each.planned) for place, each in enumerate(made)]


def _row(seq: int, planned: Planned) -> StepRow:
    return StepRow(
        seq=seq,
        kind=planned.kind,
        status="declined" if planned.declined else "planned",
        reason=planned.declined,
        turn=planned.turn,
        tool=planned.tool,
        effect=planned.effect,
        call_id=planned.call_id,
        digest=planned.digest,
    )
