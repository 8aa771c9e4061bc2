"""Rules × call → requirement: pure, the strictest outcome of all that match, with the trace of how it came about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from functools import cached_property, reduce
from typing import Any
from uuid import UUID

from approvals import conditions
from approvals.calls import MASK, ProposedCall
from approvals.requirements import (
    ADMINS,
    ANSWERS,
    RESPONSE_TIMEOUT,
    Demand,
    Outcome,
    Place,
    Requirement,
    Silence,
    Trace,
)
from tenants import exact_json

_DECIMAL_PATTERN = "^(?!^[-+.]*$)"
_REASON_FROM = ("high", "critical")


@dataclass(frozen=True)
class Rule:
    """One live version of a tenant's rule. `by_risk` is the default's own table (risk → approvals, 0 allows)."""

    id: str
    name: str
    version: int = 1
    tools: tuple[str, ...] = ("*",)
    agents: tuple[str, ...] = ("*",)
    risks: tuple[str, ...] = ()
    when: str | None = None
    outcome: Outcome = "require_approval"
    approvals: int = 1
    of: tuple[Place, ...] = ()
    answers: tuple[str, ...] = ANSWERS
    reason_required: bool | None = None
    escalation: UUID | None = None
    response_timeout: int = RESPONSE_TIMEOUT
    working_time: bool = False
    calendar: str | None = None
    on_timeout: Silence = "expire"
    by_risk: Mapping[str, int] | None = None


@dataclass(frozen=True)
class RuleSet:
    """A tenant's live rules in their order, the default apart, and the tenant's stamp they were read at."""

    rules: tuple[Rule, ...]
    default: Rule
    stamp: int = 0

    @cached_property
    def settled(self) -> dict[tuple[str, str, str], Requirement]:
        """What they demand of a tool, agent and risk, where no rule looks at more of the call."""
        return {}


DEFAULT = Rule(id="default", name="Default", by_risk={"low": 0, "medium": 0, "high": 1, "critical": 2})


def evaluate(call: ProposedCall, rules: RuleSet, *, now: datetime) -> Requirement:
    """What `rules` demand of `call`. Never raises for what a rule or a call holds: it asks an admin instead."""
    kind = (call.tool, call.agent, call.risk)
    known = rules.settled.get(kind)
    if known is not None:
        return known
    about = [rule for rule in rules.rules if matches(rule, call)]
    found = _evaluated(call, about, rules.default, _Values(call, now))
    if all(rule.when is None for rule in about):
        rules.settled[kind] = found
    return found


def _evaluated(call: ProposedCall, about: Sequence[Rule], default: Rule, values: "_Values") -> Requirement:
    met = [each for rule in about if (each := _apply(rule, call, values)) is not None]
    if not met:
        met = [_demanded(default, call, _trace(default, values))]
    return _tidy(reduce(Requirement.join, met), met, call)


def matches(rule: Rule, call: ProposedCall) -> bool:
    """Whether the rule is about this call at all, before its condition is asked."""
    return (
        any(fnmatchcase(call.tool, glob) for glob in rule.tools)
        and any(fnmatchcase(call.agent, glob) for glob in rule.agents)
        and (not rule.risks or call.risk in rule.risks)
    )


def typed_arguments(text: str, schema: Mapping[str, Any]) -> Any:
    """The bound arguments as values, each `Decimal` parameter as a number. Raises BadJson."""
    return _typed(exact_json.loads(text), schema, schema)


class _Values:
    """What conditions see, made when one asks; a call that cannot be read makes every condition not evaluable."""

    def __init__(self, call: ProposedCall, now: datetime) -> None:
        self._call = call
        self._now = now
        self.error = ""

    @cached_property
    def masked(self) -> frozenset[str]:
        return frozenset(f"args.{name}" for name in self._call.sensitive)

    @cached_property
    def values(self) -> dict[str, Any]:
        call = self._call
        seen: dict[str, Any] = {
            "run": call.run,
            "agent": call.agent,
            "tool": call.tool,
            "initiator": call.initiator,
            "labels": call.labels,
            "risk": call.risk,
            "now": self._now,
        }
        try:
            seen["args"] = typed_arguments(call.arguments, call.tool_definition.get("parameters") or {})
        except exact_json.BadJson as error:
            self.error = str(error)
        return seen

    def at(self, path: str) -> str | None:
        """The value at a dotted path as text, or None where there is none; sensitive ones are masked."""
        if path == "args" or any(path == each or path.startswith(f"{each}.") for each in self.masked):
            return MASK
        found: Any = self.values
        for name in path.split("."):
            if not isinstance(found, Mapping) or name not in found:
                return None
            found = found[name]
        return _short(found)


def _apply(rule: Rule, call: ProposedCall, values: _Values) -> Requirement | None:
    """What this rule about the call demands, or None where its condition does not hold."""
    if rule.when is None:
        return _demanded(rule, call, _trace(rule, values))
    try:
        seen = values.values
        if values.error:
            raise conditions.NotEvaluable(values.error)
        met = conditions.holds(rule.when, seen)
    except conditions.NotEvaluable as error:
        return _asks_admin(rule, call, _trace(rule, values, error=str(error)))
    return _demanded(rule, call, _trace(rule, values)) if met else None


def _demanded(rule: Rule, call: ProposedCall, trace: Trace) -> Requirement:
    approvals = rule.approvals if rule.by_risk is None else rule.by_risk.get(call.risk, 2)
    outcome: Outcome = "allow" if rule.by_risk is not None and approvals == 0 else rule.outcome
    asks = outcome == "require_approval"
    silence: Silence = "expire" if rule.on_timeout == "approve" and call.risk != "low" else rule.on_timeout
    return Requirement(
        outcome=outcome,
        demands=(Demand(approvals, rule.of),) if asks else (),
        answers=rule.answers,
        reason_required=_reason(rule, call),
        response_timeout=rule.response_timeout,
        working_time=rule.working_time,
        calendars=(rule.calendar,) if rule.working_time and asks else (),
        on_timeout=silence,
        escalation=rule.escalation,
        trace=(replace(trace, approvals=approvals, places=rule.of) if asks else trace,),
    )


def _asks_admin(rule: Rule, call: ProposedCall, trace: Trace) -> Requirement:
    """What a rule that cannot be evaluated comes to, whatever its own outcome."""
    return Requirement(
        outcome="require_approval",
        demands=(Demand(1, (ADMINS,)),),
        reason_required=_reason(rule, call),
        response_timeout=rule.response_timeout,
        trace=(replace(trace, approvals=1, places=(ADMINS,)),),
    )


def _tidy(joined: Requirement, met: Sequence[Requirement], call: ProposedCall) -> Requirement:
    """`joined` with the whole trace; silence approves a low risk only."""
    trace = tuple(each for one in met for each in one.trace)
    silence: Silence = "expire" if joined.on_timeout == "approve" and call.risk != "low" else joined.on_timeout
    return replace(joined, trace=trace, on_timeout=silence)


def _reason(rule: Rule, call: ProposedCall) -> bool:
    return call.risk in _REASON_FROM if rule.reason_required is None else rule.reason_required


def _trace(rule: Rule, values: _Values, *, error: str = "") -> Trace:
    read = [(path, values.at(path)) for path in (conditions.paths(rule.when) if rule.when else [])]
    return Trace(
        rule=rule.id,
        name=rule.name,
        version=rule.version,
        outcome=rule.outcome,
        condition=rule.when or "",
        values=tuple((path, value) for path, value in read if value is not None),
        error=error,
    )


def _typed(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """`value` with the strings that `schema` calls decimals as numbers."""
    schema = resolved(schema, root)
    if isinstance(value, str) and is_decimal(schema, root):
        try:
            return Decimal(value)
        except InvalidOperation:
            return value
    if isinstance(value, dict):
        known = schema.get("properties", {})
        rest = schema.get("additionalProperties", {})
        rest = rest if isinstance(rest, Mapping) else {}
        return {name: _typed(each, known.get(name, rest), root) for name, each in value.items()}
    if isinstance(value, list):
        items = schema.get("items", {})
        return [_typed(each, items if isinstance(items, Mapping) else {}, root) for each in value]
    return value


def resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """`schema`, or what it refers to in `root`."""
    reference = schema.get("$ref", "")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        found = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})
        return found if isinstance(found, Mapping) else {}
    return schema


def is_decimal(schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    """Whether a string of this schema is a Decimal; pydantic says so by its pattern, also under `anyOf`."""
    if schema.get("format") == "decimal" or str(schema.get("pattern", "")).startswith(_DECIMAL_PATTERN):
        return True
    return any(is_decimal(resolved(each, root), root) for each in schema.get("anyOf", ()))


def _short(value: Any) -> str:
    if isinstance(value, str):
        return value[:200]
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, int | float | datetime) or value is None:
        return str(value)
    return exact_json.dumps(value)[:200] if isinstance(value, dict | list) else type(value).__name__
