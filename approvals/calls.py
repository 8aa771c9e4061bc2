"""A proposed call: everything about one tool call that rules read and people are shown, frozen."""

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings

from tenants import exact_json

MASK = "•••"
RISKS = ("low", "medium", "high", "critical")


@dataclass(frozen=True)
class ProposedCall:
    """One tool call as it would be sent.

    `tool_definition` is the JSON of what the worker announced: `parameters` (JSON Schema of the bound arguments; a
    `Decimal` is a string whose schema says so by `format` or pydantic's pattern), `summary` (a sentence with
    parameters in braces), `fingerprint`, `version`, `sensitive` (names of parameters), `undo` (a sentence or
    None).
    `proposed_arguments` is the model's own text, `arguments` the bound arguments written by our writer, `digest` that
    of their canonical form. `initiators` are member ids. `initiator`, `labels` and `run` are JSON objects a
    rule may read; `run` has at least `id` and `title`, and for the page `url` and `step`. `evidence` and
    `precondition` are JSON texts as read at request time.
    """

    tool: str
    summary: str
    agent: str
    risk: str
    effect: str
    arguments: str
    digest: str
    tool_definition: Mapping[str, Any]
    tool_title: str = ""
    agent_version: str = ""
    proposed_arguments: str = ""
    rationale: str = ""
    initiators: tuple[UUID, ...] = ()
    initiator: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    evidence: str | None = None
    evidence_error: str = ""
    precondition: str | None = None

    @property
    def fingerprint(self) -> str:
        return str(self.tool_definition.get("fingerprint", ""))

    @property
    def sensitive(self) -> tuple[str, ...]:
        return tuple(self.tool_definition.get("sensitive") or ())


def digest(arguments: str, *, sensitive: Sequence[str] = ()) -> str:
    """The digest of bound arguments, hexadecimal; keyed where a parameter is sensitive. Raises BadJson."""
    return digest_of(exact_json.loads(arguments), sensitive=sensitive)


def digest_of(arguments: Mapping[str, Any], *, sensitive: Sequence[str] = ()) -> str:
    """The same of arguments that are at hand as JSON values."""
    key = settings.AUDIT_KEY.encode() if sensitive else None
    return exact_json.digest(arguments, key=key)


def concealed(values: Any, *, sensitive: Sequence[str]) -> Any:
    """The arguments as people and clients are told them: the mask in the place of each sensitive one."""
    if not sensitive or not isinstance(values, Mapping):
        return values
    return {name: MASK if name in sensitive else each for name, each in values.items()}


def sentence(template: str, values: Mapping[str, Any], *, sensitive: Sequence[str] = ()) -> str:
    """The act as a sentence: `template` with its braces filled from `values`, sensitive ones masked."""
    parts = []
    for literal, name in _pieces(template):
        parts.append(literal)
        if name is not None:
            parts.append(MASK if name in sensitive else _word(values.get(name, "–")))
    return "".join(parts)


@lru_cache(maxsize=1024)
def _pieces(template: str) -> tuple[tuple[str, str | None], ...]:
    return tuple((literal, name) for literal, name, _, _ in string.Formatter().parse(template))


def _word(value: Any) -> str:
    return value if isinstance(value, str) else exact_json.dumps(value)
