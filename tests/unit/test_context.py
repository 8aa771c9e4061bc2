"""The conversation that the model reads, rebuilt from the journal."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from runs.context import EMPTY_ANSWER, NOT_RUN, SUMMARISE, Conversation
from runs.entries import Journal, StepRow
from runs.llm.base import Message, ToolCall
from tests.unit.test_plan import RUN, call, journal, turn


def messages(*steps: StepRow, edits: Callable[[int], Sequence[str]] = lambda _: (), text: str = '"go"') -> Any:
    record: Journal = journal(*steps)._replace(run=replace(RUN, input=text))
    return Conversation(edits=edits).request(record, instructions="", tools=()).messages


def read(step: StepRow, **values: Any) -> str:
    return str(messages(turn(1), step, **values)[-1].text)


def test_the_first_message_is_the_input_itself_or_its_json_text() -> None:
    assert messages(text='"go"') == (Message("user", "go"),)
    assert messages(text='{"case": 1.10}') == (Message("user", '{"case": 1.10}'),)


def test_a_turn_is_told_with_the_model_s_own_text_of_its_calls() -> None:
    asked = call(2, "completed", proposed='{ "n":1.0 }', arguments='{"n":1.0}', result="{}")
    _, said, answer = messages(turn(1, result="let me see"), asked)
    assert said == Message("assistant", "let me see", tool_calls=(ToolCall("c2", "t", '{ "n":1.0 }'),))
    assert answer == Message("tool", "{}", call_id="c2")


def test_every_end_of_a_call_is_told() -> None:
    assert read(call(2, "completed", result='"text"')) == "text"
    assert read(call(2, "failed", result="The call failed: no.")) == "The call failed: no."
    assert read(call(2, "declined", reason="rejected", result="Rejected: no")) == "Rejected: no"
    assert read(call(2, "declined", reason="responded", result='"quoted" by hand')) == '"quoted" by hand'
    assert read(call(2, "declined", reason="cancelled")) == NOT_RUN
    assert read(call(2, "not_done", result="A person says it was not done: lost")).endswith("lost")


def test_the_model_is_told_which_fields_a_person_changed() -> None:
    told = read(call(2, "completed", result="{}", arguments='{"n":2}'), edits=lambda seq: ("n",) if seq == 2 else ())
    assert "n" in told
    assert '{"n":2}' in told


def test_an_empty_answer_is_answered() -> None:
    assert messages(turn(1, result="")) == (
        Message("user", "go"),
        Message("assistant", ""),
        Message("user", EMPTY_ANSWER),
    )


def test_a_compaction_takes_the_place_of_what_came_before() -> None:
    compaction = StepRow(seq=3, kind="compaction", status="completed", result="So far: much.")
    found = messages(turn(1), call(2, "completed", result="{}"), compaction, turn(4, result="on"))
    assert [message.text for message in found] == ["go", "So far: much.", "on"]


def test_a_conversation_that_grew_is_the_one_that_is_rebuilt() -> None:
    steps = [turn(1, result="a"), call(2, "completed", result="1"), turn(3, result="b"), call(4, "failed", result="no")]
    steps[3] = steps[3]._replace(turn=3)
    grown = Conversation()
    for count in range(0, 5, 2):
        record = journal(*steps[:count])._replace(run=RUN)
        request = grown.request(record, instructions="", tools=())
        assert request == Conversation().request(record, instructions="", tools=())
        assert request.turn == count // 2


def test_the_turn_that_is_being_asked_says_nothing_yet() -> None:
    assert messages(turn(1, "started")) == (Message("user", "go"),)


def test_a_summary_is_asked_of_the_very_conversation_that_the_next_turn_would_have_read() -> None:
    record = journal(turn(1), call(2, "completed", result="{}"))
    conversation = Conversation()
    asked = conversation.compaction(record, instructions="be brief", tools=())
    following = conversation.request(record, instructions="be brief", tools=())
    assert asked.messages == (*following.messages, Message("user", SUMMARISE))
    assert (asked.instructions, asked.turn) == (following.instructions, following.turn)
