"""Parameters, evidence and differences as they are shown: exactly as text, hidden characters marked."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from approvals.calls import MASK
from approvals.checks import text_of
from approvals.display import BEGINNING, Shown, beginning, shown
from approvals.pages.parts import Fact, Param
from tenants import exact_json
from tenants.exact_json import BadJson

NEARLY = 40
"""So many characters more stand there too: to unfold them would take more room than they."""
_VERDICT = re.compile(r"(.+?(?:[.!?](?=\s)|[。！？]))\s*(.+)", re.DOTALL)
"""What a check found, in its first sentence, and what it has to say beside that."""


def values_of(arguments: str) -> dict[str, Any]:
    """The bound arguments by name, numbers exact."""
    return dict(exact_json.loads(arguments))


def ordered(found: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """The values in the order in which the agent gave them; an edit binds them in another."""
    return {name: found[name] for name in [*first, *found] if name in found}


def params(
    arguments: str, first: str, definition: Mapping[str, Any], evidence: str | None = None, *, agent: str = ""
) -> list[Param]:
    """Every bound parameter, with the agent's own value where a person changed it: that of `agent`, else of `first`.

    What the evidence says under a parameter's name was checked of the value of `first`, so it stands beside that one
    only; beside another stands that it was checked before the edit.
    """
    read, checked = values_of(first), _checked(evidence)
    before = values_of(agent) if agent else read
    masked = set(definition.get("sensitive") or ())
    schema = definition.get("parameters", {}).get("properties", {})
    return [
        _masked(name)
        if name in masked
        else _param(
            name,
            value,
            before.get(name, value),
            schema.get(name, {}),
            checked.get(name),
            holds=value == read.get(name, value),
        )
        for name, value in ordered(values_of(arguments), before).items()
    ]


def _checked(evidence: str | None) -> dict[str, Shown]:
    return {fact.name: fact.full for fact in facts(evidence)}


def facts(text: str | None, *, but: Collection[str] = ()) -> list[Fact]:
    """Evidence or a precondition as named facts, those in `but` left out; a value that is no object is one fact."""
    if text is None:
        return []
    try:
        value = exact_json.loads(text)
    except BadJson:
        value = text
    named = value if isinstance(value, dict) else {_("value"): value}
    return [_fact(str(shown(str(name))), text_of(each)) for name, each in named.items() if name not in but]


def _fact(name: str, text: str) -> Fact:
    stands, whole, length = begun(text)
    return Fact(name, stands, whole=whole, length=length)


def begun(text: str) -> tuple[Shown, Shown | None, int]:
    """What of a text stands on a page; where that is its beginning, all of it to unfold, and how long it is."""
    long = len(text) > BEGINNING + NEARLY
    return (beginning(text), shown(text), len(text)) if long else (shown(text), None, 0)


def told(text: str) -> str:
    """A result in one line: `name: value, …` of a JSON object, any other text as it is."""
    try:
        value = exact_json.loads(text)
    except BadJson:
        return text
    if not isinstance(value, dict):
        return text_of(value)
    return ", ".join(f"{name}: {text_of(each)}" for name, each in value.items())


def differences(fields: Sequence[Mapping[str, Any]]) -> list[Fact]:
    """What moved between two requests, as it was written down."""
    return [
        Fact(
            name=str(shown(str(each.get("name", "")))),
            value=shown(text_of(each.get("after"))),
            was=shown(text_of(each.get("before"))),
        )
        for each in fields
    ]


def between(before: str, after: str, definition: Mapping[str, Any]) -> list[Fact]:
    """The parameters that differ between two versions, sensitive ones masked."""
    old, new = values_of(before), values_of(after)
    masked = set(definition.get("sensitive") or ())
    changed = [name for name in new if old.get(name) != new[name]]
    return [
        Fact(
            name=name,
            value=shown(MASK if name in masked else text_of(new[name])),
            was=shown(MASK if name in masked else text_of(old.get(name, ""))),
        )
        for name in changed
    ]


def _param(
    name: str, value: Any, before: Any, schema: Mapping[str, Any], checked: Shown | None, *, holds: bool
) -> Param:
    stands, whole, length = begun(text_of(value))
    was, was_whole, was_length = begun(text_of(before))
    verdict, about = _said(str(checked or ""), holds=holds)
    changed = value != before
    return Param(
        name=shown(name),
        value=stands,
        code=not _is_prose(value, schema),
        whole=whole,
        length=length,
        was=was if changed else None,
        was_whole=was_whole if changed else None,
        was_length=was_length if changed else 0,
        checked=verdict,
        about=about,
        read=checked if holds else None,
        hidden_names=(whole or stands).hidden_names,
    )


def _said(checked: str, *, holds: bool) -> tuple[str, str]:
    """What a check found and what it has to say beside that; beside another value only why it is missing."""
    if checked and not holds:
        return "", _("What was checked here was read for the value before the edit.")
    found = _VERDICT.fullmatch(checked)
    return (found[1], found[2]) if found else (checked, "")


def _masked(name: str) -> Param:
    return Param(name=shown(name), value=Shown(shown(MASK).pieces), masked=True)


def _is_prose(value: Any, schema: Mapping[str, Any]) -> bool:
    """Text of several words that is no code: shown in the reading face."""
    return isinstance(value, str) and " " in value.strip() and schema.get("format") != "decimal"
