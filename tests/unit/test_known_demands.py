"""What is known of every call of a tool is what judging one finds; nothing is known where that looks at the call."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from approvals.policy import DEFAULT, Rule, RuleSet
from runs import gate
from runs.agents import Agent
from runs.gate import Standing
from runs.tools import Effect, Risk, ToolContext, tool
from tests.cast.requests import a_call

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@tool(effect=Effect.KEYED, risk=Risk.LOW, summary="Refund {amount}")
def refund(ctx: ToolContext, *, amount: int) -> int:
    return amount


DESK = Agent("refund-desk", "1", model="scripted:desk", instructions="", tools=[refund])


def standing(*rules: Rule, risks: Mapping[str, str] | None = None, **changes: Any) -> Standing:
    values = {"off": frozenset[str](), "agents": frozenset({"refund-desk"}), **changes}
    return Standing(stamp=1, rules=RuleSet(rules, DEFAULT), risks=risks or {}, **values)


@pytest.mark.parametrize("risk", ["low", "high", "critical"])
def test_what_one_call_was_judged_by_is_known_of_all_of_that_risk(risk: str) -> None:
    settled = standing(risks={"refund": risk})
    assert gate.known(refund, DESK, settled) is None
    judged = gate.judge(a_call(risk=risk), settled, now=NOW)
    assert gate.known(refund, DESK, settled) == judged
    assert gate.known(refund, DESK, standing(risks={"refund": risk})) is None


def test_nothing_is_known_where_a_rule_looks_at_the_call() -> None:
    settled = standing(Rule(id="big", name="Big", when="args.amount > 100", outcome="deny"))
    gate.judge(a_call(risk="low"), settled, now=NOW)
    assert gate.known(refund, DESK, settled) is None


@pytest.mark.parametrize("changes", [{"off": frozenset({"refund"})}, {"agents": frozenset({"other"})}])
def test_nothing_is_known_of_what_is_switched_off(changes: dict[str, Any]) -> None:
    settled = standing(**changes)
    settled.rules.settled["refund", "refund-desk", "low"] = gate.judge(a_call(risk="low"), standing(), now=NOW)
    assert gate.known(refund, DESK, settled) is None
