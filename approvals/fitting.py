"""Whether a condition fits the tools it names: parameters that are there, types that go together, a true or false.

The language has no type checker, so each part of a condition is tried on sample values made from the tool's schema.
A part that fails on all of them could never be evaluated, and would only ever ask an admin.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from django.utils.translation import gettext as _

from approvals import conditions
from approvals.conditions import BadCondition, NotEvaluable
from approvals.samples import OPEN, samples, schema_at

Schemas = Mapping[str, Mapping[str, Any]]

TOOLS: list[Callable[[], Schemas]] = []
"""Where the tools that exist are found, each with the JSON schema of its parameters; a floor above registers."""

_READ = re.compile(r"\bargs((?:\.[A-Za-z_]\w*\b)+)(?!\s*\()")
_LITERAL = r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|-?\d[\w.]*)"""
_EQUALS = re.compile(rf"\bargs((?:\.[A-Za-z_]\w*\b)+)\s*[=!]=\s*{_LITERAL}")
_LOOSE = re.compile(r"\b(?:labels|run|initiator)\b")


def check(source: str, globs: Sequence[str]) -> None:
    """Refuse a condition that a tool named here could never answer. Raises BadCondition.

    A tool that is named in full must fit; of those that only a pattern names, one must.
    """
    faults = misfits(source, globs)
    named = [name for name in faults if name in globs]
    if named or (faults and len(faults) == len(_named(globs))):
        raise BadCondition(faults[named[0] if named else next(iter(faults))])


def misfits(source: str, globs: Sequence[str]) -> dict[str, str]:
    """The known tools among those named for which the condition cannot be evaluated, each with the reason."""
    found = {name: _fault(source, name, schema) for name, schema in sorted(_named(globs).items())}
    return {name: fault for name, fault in found.items() if fault}


def _named(globs: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    known = {name: schema for source in TOOLS for name, schema in source().items()}
    return {name: each for name, each in known.items() if any(fnmatchcase(name, glob) for glob in globs)}


def _fault(source: str, tool: str, schema: Mapping[str, Any]) -> str:
    """What keeps the condition from being evaluated for calls of this tool, as a sentence; empty where nothing does."""
    if fault := _unknown(source, tool, schema) or _never_equal(source, tool, schema):
        return fault
    calls = [_values(tool, each) for each in samples(schema)]
    for part in [source, *parts(source)]:
        why = _fails(part, calls, schema)
        if why and not ("does not have" in why and "has(" in source):
            return _("For the tool %(tool)s it cannot be evaluated. %(why)s") % {"tool": tool, "why": why}
    return ""


def _unknown(source: str, tool: str, schema: Mapping[str, Any]) -> str:
    for path in _paths(source):
        if schema_at(schema, path) is None and f"has(args.{'.'.join(path)})" not in source.replace(" ", ""):
            known = ", ".join(schema.get("properties", {})) or "–"
            names = {"tool": tool, "name": ".".join(path), "known": known}
            return _("The tool %(tool)s has no parameter %(name)s. It has: %(known)s.") % names
    return ""


def _never_equal(source: str, tool: str, schema: Mapping[str, Any]) -> str:
    """Comparing a number with text is no error in the language, only never true; so it is refused here."""
    for path, literal in _EQUALS.findall(source):
        found = schema_at(schema, path.strip(".").split("."))
        values = list(samples(found, root=schema)) if found else []
        is_text = literal[0] in "\"'"
        if values and OPEN not in values and all(isinstance(each, str) != is_text for each in values):
            names = {"tool": tool, "name": path.strip("."), "literal": literal}
            return (
                _("%(name)s of the tool %(tool)s can never equal %(literal)s: one is text, the other is not.") % names
            )
    return ""


def _paths(source: str) -> list[list[str]]:
    return [path.strip(".").split(".") for path in _READ.findall(masked(source))]


def _fails(part: str, calls: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> str:
    """Why the part fails on every sample; empty where one of them goes through, or nobody can know."""
    if any(schema_at(schema, path) is OPEN for path in _paths(part)):
        return ""
    why = ""
    for values in calls:
        try:
            conditions.holds(part, values)
        except NotEvaluable as error:
            why = str(error)
        else:
            return ""
    return "" if _LOOSE.search(part) and "does not have" in why else why


def _values(tool: str, args: Any) -> dict[str, Any]:
    return {
        "args": args,
        "tool": tool,
        "agent": "agent",
        "risk": "high",
        "now": datetime(2026, 1, 1, tzinfo=UTC),
        "run": {"id": "1", "title": "title", "step": 1, "agent": "agent"},
        "initiator": {"kind": "person", "id": "1", "name": "name", "member": "1"},
        "labels": {},
    }


def parts(source: str) -> list[str]:
    """The sides of every && and || of the condition, down to those that have none."""
    bare = masked(source)
    start, end = _inside(bare)
    cuts = list(_cuts(bare, start, end))
    if not cuts:
        return [source[start:end].strip()]
    edges = [start, *(at for cut in cuts for at in (cut, cut + 2)), end]
    sides = [source[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2)]
    return [part for side in sides for part in parts(side)]


def masked(source: str) -> str:
    """The source with the text of its strings blotted out, of the same length."""
    return conditions.STRING.sub(lambda found: '"' + "_" * (len(found[0]) - 2) + '"', source)


def _inside(bare: str) -> tuple[int, int]:
    """The stretch within brackets, or a `!` and brackets, that enclose all of it."""
    start, end = 0, len(bare)
    while True:
        text = bare[start:end]
        at = start + len(text) - len(text.lstrip(" !\n"))
        stop = start + len(text.rstrip())
        if bare[at:stop][:1] != "(" or _closing(bare, at) != stop - 1:
            return start, end
        start, end = at + 1, stop - 1


def _closing(bare: str, at: int) -> int:
    depth = 0
    for place in range(at, len(bare)):
        depth += (bare[place] in "([{") - (bare[place] in ")]}")
        if depth == 0:
            return place
    return -1


def _cuts(bare: str, start: int, end: int) -> Iterator[int]:
    """Where && and || stand outside all brackets; nowhere in a condition with `? :`, whose sides are no conditions."""
    depth, found = 0, []
    for place in range(start, end):
        depth += (bare[place] in "([{") - (bare[place] in ")]}")
        if depth == 0 and bare[place] == "?":
            return
        if depth == 0 and bare[place : place + 2] in ("&&", "||"):
            found.append(place)
    yield from found
