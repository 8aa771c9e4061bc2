"""The scripted model: plays the turns of a case, and chooses among them by how the tools really ended."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from examples.refund_desk import cases
from runs.llm.base import Message, ModelRequest, ModelResponse, ToolCall, Usage

PLACE = re.compile(r"\$\{(\w+)\.(\w+)(?:\|([^}]*))?\}")
TURN_OF = re.compile(r"turn-(\d+)-call-\d+")
ANSWERED = "A person answered in the tool's place"
INVALID = re.compile(r"not valid|no tool named", re.IGNORECASE)
NOT_RUN = re.compile(r"not run|not happen|not done", re.IGNORECASE)
BROKEN = re.compile(
    r"nothing was (?:paid|booked)|no label was printed|none was printed|not sent|does not take"
    r"|client error|server error|refused|no answer after",
    re.IGNORECASE,
)
REASON = re.compile(r"Their (?:reason|answer):\n(.*)", re.DOTALL)


@dataclass(frozen=True)
class Result:
    """The last answer of one tool, as the model read it."""

    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    ending: cases.Ending = "done"


def respond(request: ModelRequest) -> ModelResponse:
    """One scripted answer; it depends on the request alone, so any process may give it."""
    case = cases.find(_number(request.messages))
    if case is None:
        return ModelResponse(text="There is no case with this number, so there is nothing to do.")
    results = _results(request.messages)
    position = _next_turn(request.messages)
    for index, turn in enumerate(cases.turns(case)[position:], start=position):
        if _holds(turn.after, results):
            return _answer(turn, index=index, results=results)
    return ModelResponse(text="The script of this case has ended.")


def _number(messages: Sequence[Message]) -> str:
    """The case number in the run's input: {"case": "1"}, {"case": 1}, or the number alone."""
    first = messages[0].text if messages else ""
    try:
        given = json.loads(first)
    except ValueError:
        return first
    return str(given.get("case", "") if isinstance(given, dict) else given)


def _next_turn(messages: Sequence[Message]) -> int:
    """The turn after the last one played; the ids of its calls carry its number."""
    ids = [call.id for message in messages for call in message.tool_calls]
    played = [int(found[1]) for found in map(TURN_OF.search, ids) if found]
    return max(played, default=-1) + 1


def _results(messages: Sequence[Message]) -> dict[str, Result]:
    tools = {call.id: call.name for message in messages for call in message.tool_calls}
    answers = [message for message in messages if message.role == "tool"]
    return {tools[answer.call_id or ""]: _result(answer.text) for answer in answers if answer.call_id in tools}


def _result(text: str) -> Result:
    fields = _fields(text)
    return Result(text, fields=fields or {}, ending=_ending(text, found=fields is not None))


def _fields(text: str) -> dict[str, Any] | None:
    """The JSON object that a tool gave back; after an edit a sentence about it stands before."""
    try:
        found = json.loads(text[text.find("\n{") + 1 :])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _ending(text: str, *, found: bool) -> cases.Ending:
    """How a call ended, told by the words the model reads; what no word denies has happened."""
    if found or text.startswith(ANSWERED):
        return "done"
    if INVALID.search(text):
        return "failed"
    if NOT_RUN.search(text):
        return "refused"
    return "failed" if BROKEN.search(text) else "done"


def _holds(after: Mapping[str, str], results: Mapping[str, Result]) -> bool:
    return all(_ended(results.get(tool), wanted=ending) for tool, ending in after.items())


def _ended(result: Result | None, *, wanted: str) -> bool:
    if result is None:
        return wanted == "never"
    return result.ending == wanted or (wanted == "undone" and result.ending in {"refused", "failed"})


def _answer(turn: cases.Turn, *, index: int, results: Mapping[str, Result]) -> ModelResponse:
    calls = tuple(
        ToolCall(id=f"turn-{index}-call-{number}", name=call.tool, arguments=_filled_json(call.text(), results))
        for number, call in enumerate(turn.calls, start=1)
    )
    text = _filled(turn.text, results)
    words = len(text) + sum(len(call.arguments) for call in calls)
    return ModelResponse(
        text=text,
        tool_calls=calls,
        finish_reason="tool_calls" if calls else "stop",
        usage=Usage(input_tokens=200 + 50 * index, output_tokens=words // 4 + 1),
    )


def _filled(text: str, results: Mapping[str, Result]) -> str:
    """The text with each ${tool.field|otherwise} replaced; `answer` is what a person or the tool said instead."""

    def found(place: re.Match[str]) -> str:
        tool, name, otherwise = place.groups()
        result = results.get(tool)
        if result is None:
            return otherwise or ""
        return _said(result.text) if name == "answer" else str(result.fields.get(name, otherwise or ""))

    return PLACE.sub(found, text)


def _said(text: str) -> str:
    reason = REASON.search(text)
    return (reason[1] if reason else text).strip().rstrip(".。")


def _filled_json(text: str, results: Mapping[str, Result]) -> str:
    """The same inside JSON: what is filled in is escaped as part of a JSON string."""

    def found(place: re.Match[str]) -> str:
        return json.dumps(_filled(place[0], results), ensure_ascii=False)[1:-1]

    return PLACE.sub(found, text)
