"""The conversation, rebuilt from the journal: what the model was told, and nothing it was not."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from approvals import texts
from runs import states
from runs.entries import Journal, StepRow
from runs.llm.base import Message, ModelRequest, ToolCall, ToolSchema
from tenants import exact_json

EMPTY_ANSWER = "Your last answer was empty. Call a tool or answer with text."
NOT_RUN = "not run: the run had failed"
SUMMARISE = (
    "This conversation is about to be replaced by its first message and a summary. Call no tool. Write that summary "
    "for yourself: what was asked, what was found and done with every id, amount and name that still matters, what "
    "people decided and said, what was refused or failed and must not be tried again, and what remains to be done."
)
SUMMARY = "The conversation so far, as you summed it up:\n"

Whole = Callable[[StepRow, str], str]
Edits = Callable[[int], Sequence[str]]


def inline(step: StepRow, name: str) -> str:
    """A `whole` for texts that are all in their rows."""
    return getattr(step, name) or ""


class Conversation:
    """The messages of one run, extended as steps end.

    `whole` reads a text of which a row may have only the beginning; `edits` names the fields of a step's call
    that people changed; `turns` counts the model turns before the first step that is read.
    """

    def __init__(self, *, whole: Whole = inline, edits: Edits = lambda _: (), turns: int = 0) -> None:
        self._whole = whole
        self._edits = edits
        self._messages: list[Message] = []
        self._read = 0
        self._turns = turns

    def request(self, journal: Journal, *, instructions: str, tools: Sequence[ToolSchema]) -> ModelRequest:
        """The next model turn's request: every step recorded before it, in order."""
        self._extend(journal)
        return ModelRequest(
            instructions=instructions,
            messages=tuple(self._messages),
            tools=tools,
            run_id=journal.run.id,
            turn=self._turns,
        )

    def at_hand(self, journal: Journal) -> bool:
        """Whether the next request needs no text but what lies in the steps' rows."""
        return not any(step.payloads for step in _after(journal, self._read))

    def compaction(self, journal: Journal, *, instructions: str, tools: Sequence[ToolSchema]) -> ModelRequest:
        """The request for a summary: what the next turn would have been told, and the question."""
        asked = self.request(journal, instructions=instructions, tools=tools)
        return replace(asked, messages=(*asked.messages, Message("user", SUMMARISE)))

    def _extend(self, journal: Journal) -> None:
        if not self._messages:
            self._messages.append(Message("user", opening(journal.run.input)))
        new = _after(journal, self._read)
        for place, step in enumerate(new, 1):
            if step.kind == states.TOOL_CALL:
                self._messages.append(Message("tool", self._answer(step), (), step.call_id))
            elif step.status != "completed":
                return  # The turn that is being asked has nothing to say yet.
            else:
                self._add(step, _calls(step, new, place))
            self._read = step.seq

    def _add(self, step: StepRow, calls: Iterable[StepRow]) -> None:
        text = self._whole(step, "result")
        match step.kind:
            case states.MODEL_TURN:
                self._turns += 1
                self._messages += self._said(text, list(calls))
            case states.COMPACTION:
                self._messages = [self._messages[0], Message("user", text)]
            case states.OBSERVATION:
                self._messages.append(Message("user", text))

    def _said(self, text: str, calls: Sequence[StepRow]) -> list[Message]:
        if calls:
            asked = tuple([ToolCall(each.call_id, each.tool, self._whole(each, "proposed")) for each in calls])
            return [Message("assistant", text, asked)]
        said = Message("assistant", text)
        return [said] if text.strip() else [said, Message("user", EMPTY_ANSWER)]

    def _answer(self, step: StepRow) -> str:
        """What the model reads in a tool's place, for every way a call can end."""
        text = self._whole(step, "result")
        if step.status == "completed":
            return _edited(self._edits(step.seq), step) + _told(text)
        if step.status == "declined" and step.reason == "cancelled":
            return NOT_RUN
        return text or "The call did not happen."


def _calls(turn: StepRow, steps: Sequence[StepRow], place: int) -> Iterator[StepRow]:
    """The calls of this turn, which come right after it, from this place on."""
    while place < len(steps) and steps[place].kind == states.TOOL_CALL:
        if steps[place].turn == turn.seq:
            yield steps[place]
        place += 1


def _after(journal: Journal, seq: int) -> Sequence[StepRow]:
    steps = journal.steps
    if not steps or steps[-1].seq <= seq:
        return ()
    return steps[max(0, seq + 1 - steps[0].seq) :]


def opening(text: str) -> str:
    """The first message: a string itself, any other value its JSON text."""
    return _told(text)


def _edited(fields: Sequence[str], step: StepRow) -> str:
    """A person changed the call: the model must know that other arguments ran than its own."""
    if not fields:
        return ""
    return f"{texts.edited(fields)} It ran with {step.arguments or ''}\n"


def _told(text: str) -> str:
    """The text as the model reads it: a JSON string without its quotes, anything else as it is."""
    if not text.startswith('"'):
        return text
    try:
        return str(exact_json.loads(text))
    except exact_json.BadJson:
        return text
