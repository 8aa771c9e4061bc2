"""The edit page's fields: what stands, what was typed, what is wrong with it, and the difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from approvals import forms, queries
from approvals.calls import MASK
from approvals.checks import text_of
from approvals.display import shown, without_hidden
from approvals.edits import Proposal
from approvals.facts import Facts
from approvals.pages import values
from approvals.pages.parts import RuleLine
from approvals.pages.written import Difference, EditField, EditView
from approvals.policy import is_decimal


@dataclass(frozen=True)
class _Sheet:
    """The same fields in three states, as text, and what a field may be."""

    agent: Mapping[str, Any]
    current: Mapping[str, Any]
    yours: Mapping[str, str]
    wrong: Mapping[str, str]
    masked: frozenset[str]
    schema: Mapping[str, Any]
    root: Mapping[str, Any]

    def differs(self, name: str) -> bool:
        return name not in self.masked and self.yours[name] != text_of(self.current[name])


def build(
    found: Facts,
    posted: Mapping[str, Any],
    wrong: Mapping[str, str],
    *,
    lapses: Sequence[str],
    read: int = 0,
    proposal: Proposal | None = None,
    rules: Sequence[RuleLine] = (),
    compared: bool = False,
) -> EditView:
    """The form after `posted` (empty at first), with the words for each field in `wrong`.

    Compared is with version `read`, the one on the screen: 0 is the one that stands. `proposal` is what the edit would
    make, where it can be taken, and `rules` those that then ask.
    """
    agent = values.values_of(queries.asked_first(found.request, found.versions).arguments)
    shown_version = found.versions[(read or found.request.version) - 1]
    current = values.ordered(values.values_of(shown_version.arguments), agent)
    definition = found.request.definition
    sheet = _Sheet(
        agent=agent,
        current=current,
        yours={name: _typed(name, value, posted) for name, value in current.items()},
        wrong=wrong,
        masked=frozenset(definition.get("sensitive") or ()),
        schema=definition.get("parameters", {}).get("properties", {}),
        root=definition.get("parameters", {}),
    )
    changed = [name for name in current if sheet.differs(name)]
    return EditView(
        fields=[_field(name, sheet) for name in current],
        read=shown_version.number,
        stale=shown_version.number != found.request.version,
        compared=compared,
        becomes=shown(proposal.call.summary) if proposal else None,
        needed=_more(found, proposal) if proposal else 0,
        rules=rules,
        errors=list(wrong.items()),
        differences=[_difference(name, sheet) for name in changed],
        unchanged=[name for name in current if name not in changed],
        lapses=lapses,
        comment=str(posted.get("note", "")),
        comment_error=wrong.get("comment", ""),
    )


def wrong(errors: Sequence[Mapping[str, Any]], found: Facts) -> dict[str, str]:
    """What is wrong by the field it stands in; of what lies inside a parameter, its place stands before the words."""
    names, told = values.values_of(found.version.arguments), dict[str, list[str]]()
    for each in errors:
        field, words = str(each["field"]), str(each["message"])
        outer = field.partition(".")[0]
        inside = field not in names and outer in names
        told.setdefault(outer if inside else field, []).append(f"{field}: {words}" if inside else words)
    return {field: " ".join(words) for field, words in told.items()}


def _more(found: Facts, proposal: Proposal) -> int:
    """How many people are asked for with these values, 0 where the rules demand nothing more of people than now."""
    return proposal.requirement.approvals if proposal.requirement.stricter_than(found.requirement) else 0


def _typed(name: str, value: Any, posted: Mapping[str, Any]) -> str:
    """What was typed, or the value that stands without its hidden characters."""
    return str(posted.get(f"arg.{name}", without_hidden(text_of(value)))).replace("\r\n", "\n")


def _field(name: str, sheet: _Sheet) -> EditField:
    schema = sheet.schema.get(name, {})
    editable = name not in sheet.masked
    current = text_of(sheet.current[name])
    return EditField(
        name=name,
        kind=forms.kind_of(schema, sheet.current[name]),
        value=sheet.yours[name] if editable else MASK,
        original=text_of(sheet.agent.get(name, "")) if editable else MASK,
        current=current if editable else MASK,
        choices=[str(each) for each in schema.get("enum", ())],
        hint=_hint(schema, sheet.root),
        error=sheet.wrong.get(name, ""),
        editable=editable,
        removed_hidden=shown(current).hidden,
    )


def _hint(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    if schema.get("type") == "string" and is_decimal(schema, root):
        return _("A number with a point, such as 1250.00.")
    words = {"integer": _("A whole number."), "number": _("A number."), "string": _("Text.")}
    return words.get(str(schema.get("type", "")), "" if "enum" in schema else _("JSON."))


def _difference(name: str, sheet: _Sheet) -> Difference:
    return Difference(
        name=name,
        agent=shown(text_of(sheet.agent.get(name, ""))),
        current=shown(text_of(sheet.current[name])),
        yours=shown(sheet.yours[name]),
        error=sheet.wrong.get(name, ""),
    )
