"""A model provider on this machine: it plays fixed answers, misbehaves, and keeps every request."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

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
                request = {"path": self.path, "body": json.loads(body), "headers": dict(self.headers)}
                stub.seen.append({**request, "at": time.time()})
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


def cut(handler: Any) -> None:
    """An answer that breaks off after its first byte."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
    handler.wfile.flush()
    handler.connection.close()


def openai(text: str | None = None, *calls: dict[str, str], finish: str = "stop") -> Answer:
    """An answer as OpenAI gives it, with the calls' arguments as text."""
    tool_calls = [
        {"id": each["id"], "type": "function", "function": {"name": each["name"], "arguments": each["arguments"]}}
        for each in calls
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": tool_calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return 200, {}, body


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """The service, and what leads this process and its children to it."""
    made = Stub()
    monkeypatch.setenv("OPENAI_BASE_URL", f"{made.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", made.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    yield made
    made.server.shutdown()
    made.server.server_close()
