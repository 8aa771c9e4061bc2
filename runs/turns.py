"""Asking the model, for an answer or a summary, and observing again: what changes nothing outside."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings

from runs import calls, context, outages, states
from runs.arguments import jsonable
from runs.entries import Closing, Journal, StepRow, Usage
from runs.errors import Transient
from runs.failures import classify, storable, timed_out
from runs.llm.asking import ask
from runs.llm.base import ModelRequest, ModelResponse, ToolCall
from runs.proposals import Proposal, Reading, proposals
from runs.recovery import turn_failed
from runs.segment import Segment
from runs.toolbox import context_of
from runs.tools import invoke
from tenants import exact_json

MOST_TOKENS, MOST_COST = 2**40, 10**6  # Of one turn; far beyond any answer, and their sums fit the columns.
CHARACTERS = 4  # Of a token, where nobody counted: a rough mean of the languages that models read.


class Done(NamedTuple):
    """How an attempt ended, and the calls that the answer asks for."""

    closing: Closing
    made: Sequence[Proposal] = ()


def perform(segment: Segment, step: StepRow) -> Done:
    """Do this turn once; the closing says how it went."""
    try:
        return _ACTS[step.kind](segment, step)
    except Exception as error:
        return Done(turn_failed(step, classify(error, now=segment.clock()), now=segment.clock()))


def _call(segment: Segment, step: StepRow, act: Callable[[], Any], timeout: float) -> Any:
    def late() -> None:
        segment.go_on(turn_failed(step, timed_out(timeout), now=segment.clock()))

    return calls.call(act, timeout=timeout, late=late)


def _asked(segment: Segment, step: StepRow) -> Done:
    agent = segment.agent
    ready, segment.ready = segment.ready, None
    request = ready[1] if ready and ready[0] == step.seq else _request(segment, segment.journal)
    response = _respond(segment, step, request)
    segment.last_turn_at = now = segment.clock()
    reading = Reading(agent, segment.journal, step, segment.settled, now, segment.max_repeats)
    made = proposals(response, reading, used_ids=segment.call_ids)
    text = outages.fit(segment, storable(response.text or ""))
    usage = _usage(segment, request, response)
    return Done(Closing(step.seq, "completed", result=text, usage=usage), made)


def prepare(segment: Segment, journal: Journal, step: StepRow) -> None:
    """Build what the model will be asked at the step that is being opened, where no text has to be fetched for it."""
    segment.ready = None
    if step.kind == states.MODEL_TURN and segment.conversation.at_hand(journal):
        with suppress(Exception):  # It is built again when the turn is done, whose failure it is then.
            segment.ready = (step.seq, _request(segment, journal))


def _request(segment: Segment, journal: Journal) -> ModelRequest:
    agent = segment.agent
    return segment.conversation.request(journal, instructions=agent.instructions, tools=agent.for_model)


def _respond(segment: Segment, step: StepRow, request: ModelRequest) -> ModelResponse:
    model = segment.agent.model
    response: ModelResponse = _call(segment, step, lambda: ask(model, request), segment.model_timeout)
    return response


def _summed_up(segment: Segment, step: StepRow) -> Done:
    """The model's own summary, recorded as it will be told: replay and context begin with it."""
    agent = segment.agent
    request = segment.conversation.compaction(segment.journal, instructions=agent.instructions, tools=agent.for_model)
    response = _respond(segment, step, request)
    said = storable(response.text or "").strip()
    if not said:
        raise Transient("The model gave no summary of the conversation.")
    text = outages.fit(segment, context.SUMMARY + said)
    # The journal is read from here on, so the run's totals have to stand here.
    usage = _usage(segment, request, response) or Usage(0, 0)
    return Done(Closing(step.seq, "completed", result=text, usage=usage))


def _usage(segment: Segment, request: ModelRequest, response: ModelResponse) -> Usage | None:
    """What the provider told; its tokens by our own estimate where it told none and the agent is bounded by them."""
    used = response.usage
    told = Usage(_count(used.input_tokens), _count(used.output_tokens), _cost(used.cost)) if used else None
    bounded = segment.agent.context_tokens is not None or segment.agent.budget.tokens is not None
    if not bounded or (told and (told.tokens_in or told.tokens_out)):
        return told
    return _estimated(request, response, cost=told.cost if told else None)


def _estimated(request: ModelRequest, response: ModelResponse, *, cost: Decimal | None) -> Usage:
    read = len(request.instructions) + sum(len(each.text) + _arguments(each.tool_calls) for each in request.messages)
    said = len(response.text or "") + _arguments(response.tool_calls or ())
    return Usage(-(-read // CHARACTERS), -(-said // CHARACTERS), cost)


def _arguments(calls: Sequence[ToolCall]) -> int:
    return sum(len(each.name or "") + len(each.arguments or "") for each in calls)


def _count(tokens: Any) -> int:
    """Tokens as they can be added up; what is no such number counts as none."""
    return tokens if isinstance(tokens, int) and 0 <= tokens <= MOST_TOKENS else 0


def _cost(told: Any) -> Decimal | None:
    """The cost as it can be added up, or None as where none was reported."""
    if not isinstance(told, int | float | Decimal):
        return None
    cost = Decimal(str(told))
    return cost if cost.is_finite() and 0 <= cost <= MOST_COST else None


def _observed(segment: Segment, step: StepRow) -> Done:
    """Every observation of the agent, told to the model with its time; one that fails says so."""
    ctx = context_of(segment, step, calls.Box())
    lines = [f"Observed again at {segment.clock().isoformat(timespec='seconds')}:"]
    for each in segment.agent.observe:
        value = _call(segment, step, lambda each=each: invoke(each, ctx, {}), settings.TOOL_TIMEOUT)  # type: ignore[misc]
        lines.append(f"{getattr(each, '__name__', 'observation')}: {_json(value)}")
    segment.last_turn_at = segment.clock()
    text = outages.fit(segment, "\n".join(lines))
    return Done(Closing(step.seq, "completed", result=text))


_ACTS: Mapping[str, Callable[[Segment, StepRow], Done]] = {
    states.MODEL_TURN: _asked,
    states.COMPACTION: _summed_up,
    states.OBSERVATION: _observed,
}


def _json(value: Any) -> str:
    return exact_json.dumps(jsonable(value))
