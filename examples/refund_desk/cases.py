"""The customers' cases, read from cases.json: what each wrote, and what the scripted model does about it."""

import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SOURCE = Path(__file__).with_name("cases.json")

# How a tool ended last: `undone` is refused or failed, `never` that it was not called.
Ending = Literal["done", "refused", "failed", "undone", "never"]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Call(Part):
    """One tool call of a scripted turn; `raw` is for arguments that are no JSON object."""

    tool: str
    arguments: dict[str, Any] = {}
    rationale: str = ""
    raw: str | None = None

    def text(self) -> str:
        """The arguments as the model would write them."""
        if self.raw is not None:
            return self.raw
        reason = {"rationale": self.rationale} if self.rationale else {}
        return json.dumps({**self.arguments, **reason}, ensure_ascii=False)


class Turn(Part):
    """One answer of the scripted model, given when each tool named in `after` ended as it says."""

    after: dict[str, Ending] = {}
    text: str = ""
    calls: list[Call] = []


class Customer(Part):
    name: str
    email: str


class Case(Part):
    """One customer's case."""

    id: str
    title: str
    language: Literal["en", "zh"]
    nasty: str = ""
    customer: Customer
    subject: str
    message: Annotated[str, Field(min_length=1)]
    order_id: str
    turns: list[Turn]


class File(Part):
    """cases.json: the cases, and the closing turns that all cases of a language share."""

    about: str
    closing: dict[Literal["en", "zh"], list[Turn]]
    cases: list[Case]


@cache
def load() -> File:
    """The whole file, checked."""
    return File.model_validate_json(SOURCE.read_text(encoding="utf-8"))


def find(number: str) -> Case | None:
    """The case with this number, or None."""
    return next((case for case in load().cases if case.id == number.strip()), None)


def turns(case: Case) -> list[Turn]:
    """The turns of a case followed by the closing turns of its language."""
    return [*case.turns, *load().closing[case.language]]
