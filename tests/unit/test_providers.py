"""Real providers' clients against a local service that plays fixed answers, misbehaves and counts requests."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import pytest

from runs.errors import ModelRefused, RateLimited, Transient
from runs.failures import classify
from runs.llm.asking import ask
from runs.llm.base import Message, ModelRequest, ToolCall, ToolSchema

Answer = tuple[int, dict[str, str], Any]


class Stub:
    """Answers in order, and keeps every request."""

    def __init__(self) -> None:
        self.answers: list[Answer | Callable[[Any], None]] = []
        self.seen: list[dict[str, Any]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                stub.seen.append({"path": self.path, "body": json.loads(body), "headers": dict(self.headers)})
                answer = stub.answers.pop(0)
                if callable(answer):
                    return answer(self)
                status, headers, content = answer
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                return None

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    made = Stub()
    monkeypatch.setenv("OPENAI_BASE_URL", f"{made.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", made.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    yield made
    made.server.shutdown()
    made.server.server_close()


RAW = '{"amount": 12345678901234567890.10,  "rationale": "x"}'


def openai(text: str | None = None, *calls: dict[str, str], finish: str = "stop") -> Answer:
    tool_calls = [
        {"id": each["id"], "type": "function", "function": {"name": each["name"], "arguments": each["arguments"]}}
        for each in calls
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": tool_calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return 200, {}, body


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
    def cut(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
        handler.wfile.flush()
        handler.connection.close()

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
