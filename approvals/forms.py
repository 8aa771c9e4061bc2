"""The answer form as it is posted: fields to an answer, and refusals back to the fields they belong to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from approvals.arguments import Unread
from approvals.checks import text_of
from approvals.display import without_hidden
from approvals.pages.written import AnswerForm
from tenants import exact_json
from tenants.exact_json import BadJson
from tenants.refusals import Refusal

FIELD_OF = {"approve": "note", "edit": "note", "reject": "reason", "respond": "response"}


@dataclass(frozen=True)
class Posted:
    """One posted answer. For an edit alone: `arguments` with the edited values, and of those what was `typed`."""

    decision: str
    version: int | None
    comment: str = ""
    response: str = ""
    arguments: Any = None
    typed: Sequence[tuple[str, str]] = ()

    def as_answer(self) -> dict[str, Any]:
        """The keyword arguments of `decisions.decide`."""
        return {
            "decision": self.decision,
            "version": self.version,
            "comment": self.comment,
            "response": self.response,
            "arguments": self.arguments,
        }


def read(
    post: QueryDict, *, current: Mapping[str, Any], schema: Mapping[str, Any], edited_of: Mapping[str, Any]
) -> Posted:
    """What the form says. `current` are the values of the version that stands, `edited_of` of the one that was shown,
    `schema` the tool's parameters."""
    decision = post.get("decision", "")
    text = post.get(FIELD_OF.get(decision, "note"), "").replace("\r\n", "\n")
    return Posted(
        decision=decision,
        version=version(post),
        comment="" if decision == "respond" else text,
        response=text if decision == "respond" else "",
        arguments=edited(post, current=current, schema=schema) if decision == "edit" else None,
        typed=_typed(post, edited_of) if decision == "edit" else (),
    )


def kept(
    post: QueryDict,
    refusal: Refusal | None = None,
    *,
    typed: Sequence[tuple[str, str]] = (),
    code_error: str = "",
) -> AnswerForm:
    """The form again with what was typed; each error beside its own field."""
    decision = post.get("decision", "")
    return AnswerForm(
        decision=decision,
        note=post.get("note", ""),
        reason=post.get("reason", ""),
        response=post.get("response", ""),
        values=typed,
        errors=_errors(refusal, decision) if refusal else {},
        code_error=code_error,
    )


def edited(post: QueryDict, *, current: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The edited arguments: every field `arg.<name>` read by the kind its schema gives, the others as they were."""
    properties = schema.get("properties", {})
    values = dict(current)
    for key in post:
        if key.startswith("arg."):
            name = key.removeprefix("arg.")
            text = post.get(key, "").replace("\r\n", "\n")
            values[name] = _value(text, kind_of(properties.get(name, {}), values.get(name)), values.get(name))
    return values


def kind_of(schema: Mapping[str, Any], value: Any) -> str:
    """How a parameter is edited: text, long, number, choice, bool or json."""
    written = "long" if isinstance(value, str) and (len(value) > 80 or "\n" in value) else "text"
    kinds = {
        "string": written,
        "integer": "number",
        "number": "number",
        "boolean": "bool",
    }
    if "enum" in schema and all(isinstance(each, str) for each in schema["enum"]):
        return "choice"
    return kinds.get(str(schema.get("type", "")), written if isinstance(value, str) else "json")


def _value(text: str, kind: str, before: Any) -> Any:
    """The value a field's text stands for; text that is no number or JSON is refused, and never becomes a string."""
    if before is not None and text == text_of(before):
        return before  # Untouched fields keep their value whatever their kind.
    if kind in ("text", "long", "choice"):
        return text
    if kind == "bool":
        return {"true": True, "false": False}.get(text, text)
    try:
        return exact_json.loads(text)
    except BadJson:
        return Unread(text)


def _typed(post: QueryDict, before: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The fields that do not say what they said when they were shown."""
    texts = {
        key.removeprefix("arg."): post.get(key, "").replace("\r\n", "\n") for key in post if key.startswith("arg.")
    }
    said = {name: text_of(value) for name, value in before.items()}
    return [
        (name, text) for name, text in texts.items() if text not in (said.get(name), without_hidden(said.get(name, "")))
    ]


def version(post: QueryDict) -> int | None:
    """The number of the version that was shown; None where the form has none that can be read."""
    text = post.get("version", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _errors(refusal: Refusal, decision: str) -> dict[str, str]:
    names = {"comment": FIELD_OF.get(decision, "note"), "response": "response"}
    found = {names.get(str(each["field"]), ""): str(each["message"]) for each in refusal.errors}
    return found or {"": str(refusal.detail)}
