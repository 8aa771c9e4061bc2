"""Real providers' clients against a local service that plays fixed answers, misbehaves and counts requests."""

import json
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any
from uuid import UUID

import pytest

from runs.errors import ModelRefused, RateLimited, Transient
from runs.failures import classify
from runs.llm.asking import ask
from runs.llm.base import Message, ModelRequest, ToolCall, ToolSchema
from tests.harness.provider import Stub, cut, openai

RAW = '{"amount": 12345678901234567890.10,  "rationale": "x"}'


def request(*messages: Message) -> ModelRequest:
    tools = (ToolSchema("pay", "Pay.", {"type": "object", "properties": {"amount": {"type": "string"}}}),)
    return ModelRequest("Be kind.", messages or (Message("user", "hello"),), tools, UUID(int=1), 0)


def test_an_answer_with_parallel_calls_keeps_their_raw_text(stub: Stub) -> None:
    two = [{"id": "a", "name": "pay", "arguments": RAW}, {"id": "b", "name": "pay", "arguments": "{broken"}]
    stub.answers = [openai(None, *two, finish="tool_calls")]
    answer = ask("openai:gpt-test", request())
    assert [(each.id, each.name, each.arguments) for each in answer.tool_calls] == [
        ("a", "pay", RAW),
        ("b", "pay", "{broken"),
    ]
    assert answer.usage
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (11, 7)


def test_the_conversation_is_sent_with_one_result_for_each_call(stub: Stub) -> None:
    stub.answers = [openai("done")]
    calls = (ToolCall("a", "pay", '{"amount":"1"}'), ToolCall("b", "pay", '{"amount":"2"}'))
    history = (
        Message("user", "hello"),
        Message("assistant", "let me", tool_calls=calls),
        Message("tool", "paid", call_id="a"),
        Message("tool", "Rejected by a person.", call_id="b"),
    )
    assert ask("openai:gpt-test", request(*history)).text == "done"
    sent = stub.seen[0]["body"]
    roles = [each["role"] for each in sent["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool"]
    assert [each["tool_call_id"] for each in sent["messages"] if each["role"] == "tool"] == ["a", "b"]
    assert sent["messages"][4]["content"] == "Rejected by a person."
    assert sent["tools"][0]["function"]["parameters"]["properties"]["amount"] == {"type": "string"}


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_will_never_be_answered_is_asked_once_and_names_no_key(stub: Stub, status: int) -> None:
    stub.answers = [(status, {}, {"error": {"message": "wrong key sk-secret", "type": "x", "code": "y"}})]
    with pytest.raises(ModelRefused) as found:
        ask("openai:gpt-test", request())
    assert len(stub.seen) == 1
    assert "sk-secret" not in str(found.value)


def test_a_conversation_that_is_too_long_is_asked_once(stub: Stub) -> None:
    stub.answers = [(400, {}, {"error": {"message": "too long", "type": "x", "code": "context_length_exceeded"}})]
    with pytest.raises(ModelRefused, match="long"):
        ask("openai:gpt-test", request())
    assert len(stub.seen) == 1


def test_a_rate_limit_tells_how_long_to_wait(stub: Stub) -> None:
    stub.answers = [(429, {"retry-after": "1.5"}, {"error": {"message": "slow down"}})]
    with pytest.raises(RateLimited) as found:
        ask("openai:gpt-test", request())
    assert found.value.retry_after == 1.5
    assert len(stub.seen) == 1


@pytest.mark.parametrize(
    ("told", "least", "most"),
    [
        (lambda: formatdate(time.time() + 10, usegmt=True), 8, 10),
        (lambda: formatdate(time.time() - 10, usegmt=True), None, None),
        (lambda: "soon", None, None),
        (lambda: str(365 * 86400), 365 * 86400, 365 * 86400),
    ],
)
def test_a_wait_is_told_as_a_date_as_nonsense_or_as_a_year(
    stub: Stub, told: Callable[[], str], least: float | None, most: float | None
) -> None:
    """Case 80; the longest that is kept, RETRY_TOLD_CAP, is the engine's matter."""
    stub.answers = [(429, {"retry-after": told()}, {"error": {"message": "slow down"}})]
    with pytest.raises(RateLimited) as found:
        ask("openai:gpt-test", request())
    wait = found.value.retry_after
    assert (wait is None) == (least is None)
    assert least is None or most is None or least <= float(str(wait)) <= most


def test_a_provider_that_reports_no_usage_is_not_taken_for_one_that_used_nothing(stub: Stub) -> None:
    status, headers, body = openai("done")
    stub.answers = [(status, headers, {name: value for name, value in body.items() if name != "usage"})]
    assert ask("openai:gpt-test", request()).usage is None


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_an_outage_is_raised_at_once_for_the_engine_to_retry(stub: Stub, status: int) -> None:
    stub.answers = [(status, {}, {"error": {"message": "down"}}), openai("up")]
    with pytest.raises(Transient):
        ask("openai:gpt-test", request())
    assert len(stub.seen) == 1
    assert ask("openai:gpt-test", request()).text == "up"


def test_a_body_that_is_no_json_is_an_outage(stub: Stub) -> None:
    stub.answers = [(200, {}, b"<html>gateway</html>")]
    with pytest.raises(Transient):
        ask("openai:gpt-test", request())


def test_a_connection_that_is_cut_is_an_outage(stub: Stub) -> None:
    stub.answers = [cut]
    with pytest.raises(Exception) as found:
        ask("openai:gpt-test", request())
    assert classify(found.value).cause in ("connection", "timeout", "server")


def test_no_answer_in_time_is_a_timeout(stub: Stub, settings: Any) -> None:
    settings.MODEL_TIMEOUT = 0.3
    stub.answers = [lambda _: time.sleep(1)]
    with pytest.raises(Exception) as found:
        ask("openai:gpt-test", request())
    assert classify(found.value).cause in ("timeout", "connection")


def test_a_refused_connection_is_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with pytest.raises(ConnectionError):
        ask("openai:gpt-test", request())


def test_a_missing_key_is_said_to_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelRefused, match="OPENAI_API_KEY"):
        ask("openai:gpt-test", request())


def test_anthropic_answers_with_its_calls(stub: Stub) -> None:
    content = [
        {"type": "text", "text": "let me"},
        {"type": "tool_use", "id": "t1", "name": "pay", "input": {"amount": "1"}},
    ]
    body = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content}
    body |= {"stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2}}
    stub.answers = [(200, {}, body)]
    answer = ask("anthropic:claude-test", request())
    assert answer.text == "let me"
    assert [(each.id, each.name, json.loads(each.arguments)) for each in answer.tool_calls] == [
        ("t1", "pay", {"amount": "1"})
    ]
    assert len(stub.seen) == 1


def test_a_name_that_is_no_tool_s_is_sent_back_in_a_form_that_providers_take(stub: Stub) -> None:
    stub.answers = [openai("done")]
    odd = Message("assistant", "", tool_calls=(ToolCall("a", "Send Payment ", "{"),))
    ask("openai:gpt-test", request(Message("user", "x"), odd, Message("tool", "There is no such tool.", call_id="a")))
    sent = stub.seen[0]["body"]["messages"][2]["tool_calls"][0]["function"]
    assert sent["name"] == "Send_Payment_"
