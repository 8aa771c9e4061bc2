"""What is wrong in a declaration is told by its author's own file and line, with what to do about it."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config import agent_modules
from runs import authors
from runs.agents import registry

HEAD = "from runs.agents import Agent, register\nfrom runs.tools import Effect, Risk, tool\n\n"
READ = '@tool(effect=Effect.READ, risk=Risk.LOW, summary="Look")\n'

Told = Callable[[str], str]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    """What is told of a module of agents that holds this text."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_agents", {})

    def ask(text: str) -> str:
        (tmp_path / "desk_of_errors.py").write_text(HEAD + text)
        (sentence,) = agent_modules.broken(["desk_of_errors"])
        return sentence.replace(str(tmp_path), "")

    yield ask
    sys.modules.pop("desk_of_errors", None)


def agent(**changes: str) -> str:
    given = {"name": "'a'", "version": "'1'", "model": "'p:x'", "instructions": "''"} | changes
    return f"register(Agent({', '.join(f'{name}={value}' for name, value in given.items())}))"


TWICE = agent(name="'twice'") + "\n" + agent(name="'twice'", instructions="'b'")
ERRORS = {
    READ.replace("Effect.READ", '"writes"') + "def f(ctx): ...": "effect= is one of Effect.READ",
    READ.replace("Risk.LOW", '"none"') + "def f(ctx): ...": "risk= is one of Risk.LOW",
    READ.replace("READ", "MANUAL") + "def f(ctx): ...": "effect manual needs timeout=",
    READ.replace("effect=Effect.READ, ", "") + "def f(ctx): ...": "@tool(…) lacks effect=, which each has to give (",
    "@tool()\ndef f(ctx): ...": "@tool(…) lacks effect=, risk=, summary=, which each has to give (",
    READ.replace("Look", "Look {a}") + "def f(a): ...": "the first parameter is the context, and a stands in its place",
    READ + "def f(room: str, day: str): ...": "and room stands in its place: def f(ctx, room, …)",
    agent().replace("model='p:x', ", ""): "Agent(…) lacks model=, which each has to give (",
    READ.replace(")", ', timeout="5")') + "def f(ctx): ...": "timeout= is a number of seconds or a timedelta",
    READ.replace(")", ", key_lifetime=None)")
    + "def f(ctx): ...": "key_lifetime= is a number of seconds or a timedelta",
    READ.replace("Look", "Look {b}") + "def f(ctx, a: str): ...": "{b}, which is none of its parameters (a)",
    READ.replace("Look", "Look {a") + "def f(ctx, a: str): ...": "the summary cannot be read",
    READ.replace('"Look"', "None") + "def f(ctx): ...": "summary= is a sentence",
    READ + "def f(ctx, rationale: str): ...": "no parameter of a tool; rename it",
    READ + "def f(ctx, a): ...": "a needs a type, such as a: str",
    READ + "def f(): ...": "the first parameter is the ToolContext: def f(ctx, …)",
    READ + "def f(ctx, *a: str): ...": "*a cannot be shown to a reviewer; name each parameter",
    READ + "def f(ctx, a: 'Nope'): ...": "name 'Nope' is not defined. Its types have to be imported",
    "class Box: ...\n" + READ + "def f(ctx, a: int, b: Box): ...": "told of the type of b, Box. Use text, numbers",
    "from typing import Callable\n" + READ + "def f(ctx, a: Callable[[], int]): ...": "of the type of a, Callable.",
    agent(tools="[print]"): "print is no tool. Put @tool",
    agent(version="1"): 'version= is a text in quotes, such as "1", not 1',
    agent(model="'gpt'"): 'model= is "provider:name" or an object',
    TWICE: "Give the one that changed a version",
    f"{READ}def f(ctx): ...\n{agent(tools='[f, f]')}": "has two tools named f. Rename one of the two functions",
}


@pytest.mark.parametrize(("text", "why"), ERRORS.items())
def test_an_error_in_a_declaration_names_its_line_and_says_what_to_do(told: Told, text: str, why: str) -> None:
    sentence = told(text)
    lines = (HEAD + text).splitlines()
    line = max(place for place, each in enumerate(lines, 1) if each.startswith(("@tool", "register(")))
    assert why in sentence
    assert sentence.endswith(f" (/desk_of_errors.py, line {line}).")
    assert len(sentence.splitlines()) == 1
    assert "pydantic.dev" not in sentence


def test_only_a_module_that_was_not_found_is_said_to_lie_elsewhere(told: Told) -> None:
    found = told("import not_installed")
    assert found.startswith("AGENT_MODULES names desk_of_errors, which has an error: ModuleNotFoundError: No module")
    assert authors.mended(found) == "Correct the module, or leave it out of AGENT_MODULES."
    (absent,) = agent_modules.broken(["desk_of_nobody"])
    assert absent.startswith("AGENT_MODULES names desk_of_nobody, which cannot be imported: ModuleNotFoundError")
    assert authors.mended(absent) == "Correct its name in AGENT_MODULES, and see that it lies on PYTHONPATH."
    assert authors.mended(f"{found} {absent}") == f"{authors.mended(found)} {authors.mended(absent)}"


def test_an_error_that_a_library_raises_names_the_line_that_called_it(told: Told) -> None:
    assert told('import json\n\njson.loads("{")').endswith(" (/desk_of_errors.py, line 6).")


def test_authors_whose_module_is_installed_as_a_library_are_told_of_their_line_too(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authors, "PYTHON", (*authors.PYTHON, f"{tmp_path}/"))
    assert told(READ + "def f(ctx, a): ...").endswith(" (/desk_of_errors.py, line 4).")


def test_a_timeout_may_be_a_timedelta_and_a_number_stays_as_it_was_written(told: Told) -> None:
    text = (
        "from datetime import timedelta\n" + READ.replace(")", ", timeout=timedelta(minutes=1))") + "def f(ctx): ...\n"
    )
    numbers = READ.replace(")", ", timeout=5)") + "def g(ctx): ...\n"
    stop = "raise RuntimeError(f.definition['timeout'], g.definition['timeout'])"
    assert "RuntimeError: ('60.0', '5')" in told(text + numbers + stop)
