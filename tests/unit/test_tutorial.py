"""The tutorial's file does what the tutorial says of it."""

import json
import re
import uuid
from pathlib import Path
from types import ModuleType

import pytest

from runs.agents import registry
from runs.arguments import BadArguments
from runs.llm.base import Message, ModelRequest
from runs.tools import Risk, ToolContext

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"


@pytest.fixture
def front_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(registry, "_agents", {})
    (code,) = re.findall(r"```python\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), re.DOTALL)
    module = ModuleType("front_desk")
    module.__file__ = str(tmp_path / "front_desk.py")
    exec(compile(code, module.__file__, "exec"), module.__dict__)
    return module


def context(key: str) -> ToolContext:
    return ToolContext(
        tenant=uuid.UUID(int=1),
        run_id=uuid.UUID(int=2),
        step=2,
        attempt=1,
        idempotency_key=key,
        _progress=lambda message, done, total: None,
        _store=lambda content, media_type: "",
        _secret=lambda name: "",
    )


def test_the_same_key_books_once_and_another_key_books_again(front_desk: ModuleType, tmp_path: Path) -> None:
    for key in ("one", "one", "two"):
        front_desk.book_room(context(key), room="204", guest="Ada", nights=2)
    assert len(list((tmp_path / "bookings").iterdir())) == 2


def test_nights_in_quotes_reach_no_reviewer(front_desk: ModuleType) -> None:
    with pytest.raises(BadArguments):
        front_desk.book_room.bind('{"room": "204", "guest": "Ada", "nights": "2"}')


def test_the_agent_asks_for_a_room_and_then_says_how_it_went(front_desk: ModuleType) -> None:
    agent = registry.find("front-desk", "1")
    first = ModelRequest(agent.instructions, (Message("user", "A room"),), agent.for_model, uuid.UUID(int=2), 0)
    (wanted,) = agent.model.respond(first).tool_calls  # type: ignore[union-attr]
    tool = agent.by_name[wanted.name]
    bound = tool.bind(wanted.arguments)
    assert tool.risk is Risk.HIGH
    assert tool.sentence(bound.plain) == "Book room 204 for Ada, 2 nights"
    assert bound.rationale == json.loads(wanted.arguments)["rationale"]
    answered = (*first.messages, Message("tool", "Booked.", call_id=wanted.id))
    last = agent.model.respond(ModelRequest("", answered, (), first.run_id, 1))  # type: ignore[union-attr]
    assert last.text == "The front desk answered: Booked."  # type: ignore[union-attr]
