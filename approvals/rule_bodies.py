"""The body of a rule: what an admin writes, checked field by field, what is stored, and the rule made of it."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from approvals import conditions, errors, fitting
from approvals.calls import RISKS
from approvals.models import Calendar, EscalationPolicy, Rotation
from approvals.policy import Rule
from approvals.requirements import ANSWERS, KINDS, OUTCOMES, RESPONSE_TIMEOUT, SILENCES, Place
from tenants import ids, naming
from tenants.models import Group, Member

MAX_APPROVALS = 20
LONGEST = 366 * 24 * 3600
_FIELDS = (
    ("name", "tools", "agents", "risks", "when", "outcome", "approvals", "of", "answers", "reason_required")
    + ("escalation_policy", "response_timeout", "working_time", "calendar", "on_timeout", "by_risk", "order")
)  # fmt: skip


def validated(sent: Mapping[str, Any], *, is_default: bool = False) -> dict[str, Any]:
    """The body as it is stored, every field filled. Raises Refusal 422 naming each field that cannot be used."""
    wrong: list[dict[str, str]] = [
        {"field": field, "message": _("A rule has no such field.")} for field in sent if field not in _FIELDS
    ]
    body: dict[str, Any] = {}
    for field, check in _CHECKS.items():
        try:
            body[field] = check(sent.get(field))
        except ValueError as error:
            wrong.append({"field": field, "message": str(error)})
    if is_default:
        body["by_risk"] = _by_risk(sent.get("by_risk"), wrong)
    elif sent.get("by_risk") is not None:
        wrong.append({"field": "by_risk", "message": _("Only the default rule has a table by risk.")})
    wrong += _together(body)
    if wrong:
        why = " ".join(each["message"] for each in wrong)
        raise errors.fields(wrong, code="invalid_rule", detail=_("Nothing was changed: %(why)s") % {"why": why})
    return body


def as_written(body: Mapping[str, Any]) -> dict[str, Any]:
    """A stored body as it can be sent again."""
    places = [{each["kind"]: each["key"], "at_least": each["at_least"]} for each in body.get("of", ())]
    return {**body, "of": places}


def rule_of(body: Mapping[str, Any], *, id: str, version: int) -> Rule:  # noqa: A002  The field's name.
    """The rule that a stored body describes."""
    return Rule(
        id=id,
        version=version,
        name=body["name"],
        tools=tuple(body["tools"]),
        agents=tuple(body["agents"]),
        risks=tuple(body["risks"]),
        when=body["when"],
        outcome=body["outcome"],
        approvals=body["approvals"],
        of=tuple(Place(**each) for each in body["of"]),
        answers=tuple(body["answers"]),
        reason_required=body["reason_required"],
        escalation=UUID(body["escalation_policy"]) if body["escalation_policy"] else None,
        response_timeout=body["response_timeout"],
        working_time=body["working_time"],
        calendar=body.get("calendar"),
        on_timeout=body["on_timeout"],
        by_risk=body.get("by_risk"),
    )


def name(value: Any) -> str:
    """A name of 1 to 200 characters. Raises ValueError."""
    if not isinstance(value, str) or not value.strip() or len(value) > 200:
        raise ValueError(_("A name of 1 to 200 characters is wanted."))
    if naming.hides(value):
        raise ValueError(str(naming.HIDING))
    return value.strip()


def _globs(value: Any) -> list[str]:
    found = ["*"] if value is None else list(value) if isinstance(value, tuple) else value
    if not isinstance(found, list) or not found or not all(isinstance(each, str) and each for each in found):
        raise ValueError(_("A list of names is wanted; * stands for any characters."))
    return found


def _risks(value: Any) -> list[str]:
    found = [] if value is None else value
    if not isinstance(found, list) or not set(map(str, found)) <= set(RISKS):
        raise ValueError(_("A list of low, medium, high, critical is wanted."))
    return found


def _when(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError(_("A condition is text."))
    conditions.check(value)
    return value


def _one_of(choices: tuple[str, ...], default: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        found = default if value is None else value
        if found not in choices:
            raise ValueError(_("One of these is wanted: %(choices)s.") % {"choices": ", ".join(choices)})
        return str(found)

    return check


def number(default: int | None, lowest: int, highest: int) -> Callable[[Any], int]:
    """A check for whole numbers in a range; without a default None is refused too."""

    def check(value: Any) -> int:
        found = default if value is None else value
        if not isinstance(found, int) or isinstance(found, bool) or not lowest <= found <= highest:
            raise ValueError(
                _("A whole number from %(lowest)s to %(highest)s is wanted.") % {"lowest": lowest, "highest": highest}
            )
        return found

    return check


def boolean(default: bool | None) -> Callable[[Any], bool | None]:
    """A check for true and false; None means `default`."""

    def check(value: Any) -> bool | None:
        if value is not None and not isinstance(value, bool):
            raise ValueError(_("true or false is wanted."))
        return default if value is None else value

    return check


def _answers(value: Any) -> list[str]:
    found = list(ANSWERS) if value is None else value
    if not isinstance(found, list) or not found or not set(map(str, found)) <= set(ANSWERS):
        raise ValueError(_("A list of approve, edit, reject, respond is wanted."))
    return [answer for answer in ANSWERS if answer in found]


def _of(value: Any) -> list[dict[str, Any]]:
    found = [] if value is None else value
    if not isinstance(found, list):
        raise ValueError(_("A list of groups or members is wanted."))
    return [_place(each) for each in found]


def _place(written: Any) -> dict[str, Any]:
    if not isinstance(written, Mapping) or set(written) - {"group", "member", "role", "at_least"}:
        raise ValueError(_("Each is a group or a member, with at_least."))
    named = [(kind, written[kind]) for kind in KINDS if written.get(kind) is not None]
    if len(named) != 1:
        raise ValueError(_("Each names one group or one member."))
    kind, named_as = named[0]
    at_least = number(0, 0, MAX_APPROVALS)(written.get("at_least"))
    return Place(kind, _key(kind, str(named_as)), at_least).as_json()


def _key(kind: str, named: str) -> str:
    if kind == "group":
        return group_id(named)
    if kind == "member":
        return member_id(named)
    if named != "reviewer":
        raise ValueError(_("The only role that a rule asks is reviewer."))
    return named


def group_id(named: str) -> str:
    """The id of the group with this name or id. Raises ValueError."""
    key = ids.parse(named)
    found = Group.objects.filter(pk=key) if key else Group.objects.filter(name=named)
    group = found.first()
    if group is None:
        raise ValueError(_("There is no group “%(name)s”.") % {"name": named})
    return str(group.pk)


def member_id(named: str) -> str:
    """The id of the member with this address or id. Raises ValueError."""
    key = ids.parse(named)
    found = Member.objects.filter(pk=key) if key else Member.objects.filter(person__email=named.strip().lower())
    member = found.first()
    if member is None:
        raise ValueError(_("There is no member “%(name)s”.") % {"name": named})
    return str(member.pk)


def _escalation(value: Any) -> str | None:
    if value is None or value == "":
        return None
    key = ids.parse(value)
    open_ones = EscalationPolicy.objects.filter(archived_at__isnull=True)
    found = (open_ones.filter(pk=key) if key else open_ones.filter(name=str(value))).first()
    if found is None:
        raise ValueError(_("There is no escalation policy “%(name)s”.") % {"name": value})
    return str(found.pk)


def calendar_id(value: Any) -> str | None:
    """The id of the calendar with this name or id; None, the tenant's default, stays None. Raises ValueError."""
    if value is None or value == "":
        return None
    key = ids.parse(value)
    open_ones = Calendar.objects.filter(archived_at__isnull=True)
    found = (open_ones.filter(pk=key) if key else open_ones.filter(name=str(value))).first()
    if found is None:
        raise ValueError(_("There is no calendar “%(name)s”.") % {"name": value})
    return str(found.pk)


def rotation_id(named: str) -> str:
    """The id of the rotation with this name or id. Raises ValueError."""
    key = ids.parse(named)
    open_ones = Rotation.objects.filter(archived_at__isnull=True)
    found = (open_ones.filter(pk=key) if key else open_ones.filter(name=named)).first()
    if found is None:
        raise ValueError(_("There is no rotation “%(name)s”.") % {"name": named})
    return str(found.pk)


def _by_risk(value: Any, wrong: list[dict[str, str]]) -> dict[str, int]:
    found = value if isinstance(value, Mapping) else {}
    good = set(found) == set(RISKS) and all(
        isinstance(each, int) and not isinstance(each, bool) and 0 <= each <= MAX_APPROVALS for each in found.values()
    )
    if not good:
        wrong.append({"field": "by_risk", "message": _("A number of approvals for each risk is wanted; 0 allows.")})
    return dict(found)


def _together(body: Mapping[str, Any]) -> list[dict[str, str]]:
    """What does not go together of the fields that can be used by themselves."""
    wrong = _fitting(body) if {"when", "tools"} <= body.keys() else []
    seats = sum(place["at_least"] for place in body.get("of", ()))
    if seats > body.get("approvals", seats):
        message = _("The groups need %(seats)s people together.") % {"seats": seats}
        wrong.append({"field": "approvals", "message": message})
    return wrong


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "name": name,
    "tools": _globs,
    "agents": _globs,
    "risks": _risks,
    "when": _when,
    "outcome": _one_of(OUTCOMES, "require_approval"),
    "approvals": number(1, 1, MAX_APPROVALS),
    "of": _of,
    "answers": _answers,
    "reason_required": boolean(None),
    "escalation_policy": _escalation,
    "response_timeout": number(RESPONSE_TIMEOUT, 1, LONGEST),
    "working_time": boolean(False),
    "calendar": calendar_id,
    "on_timeout": _one_of(SILENCES, "expire"),
}


def _fitting(body: Mapping[str, Any]) -> list[dict[str, str]]:
    try:
        if body["when"]:
            fitting.check(body["when"], body["tools"])
    except conditions.BadCondition as error:
        return [{"field": "when", "message": str(error)}]
    return []
