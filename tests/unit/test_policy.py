"""Rules × call → requirement: the strictest wins, the default counts alone, and doubt asks an admin."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals import policy
from approvals.policy import DEFAULT, Rule, RuleSet, evaluate
from approvals.requirements import (
    ADMINS,
    ANSWERS,
    Demand,
    Place,
    Requirement,
    Voter,
    from_json,
    missing,
    progress,
)
from tests.cast.requests import ARGUMENTS, a_call

NOW = datetime(2026, 11, 29, 22, 0, tzinfo=UTC)
FINANCE, LEGAL = Place("group", "finance"), Place("group", "legal")


def demanded(*rules: Rule, risk: str = "high", **changes: Any) -> Requirement:
    return evaluate(a_call(risk=risk, **changes), RuleSet(rules, DEFAULT), now=NOW)


def a_rule(name: str = "r", **body: Any) -> Rule:
    return Rule(id=name, name=name, **body)


@pytest.mark.parametrize(
    ("risk", "outcome", "approvals"),
    [("low", "allow", 0), ("medium", "allow", 0), ("high", "require_approval", 1), ("critical", "require_approval", 2)]
    + [("unheard", "require_approval", 2)],
)
def test_the_default_goes_by_risk(risk: str, outcome: str, approvals: int) -> None:
    need = demanded(risk=risk)
    assert (need.outcome, need.approvals) == (outcome, approvals)
    assert need.response_timeout == 24 * 3600
    assert need.answers == ANSWERS
    assert need.reason_required is (risk in ("high", "critical"))


def test_a_matching_allow_loosens_the_default() -> None:
    assert demanded(a_rule(outcome="allow"), risk="critical").outcome == "allow"


@pytest.mark.parametrize(
    ("outcomes", "wanted"),
    [
        (("allow", "require_approval"), "require_approval"),
        (("deny", "allow", "require_approval"), "deny"),
        (("require_approval", "deny"), "deny"),
        (("allow", "allow"), "allow"),
    ],
)
def test_the_strictest_of_all_that_match_wins(outcomes: Any, wanted: str) -> None:
    assert demanded(*[a_rule(str(i), outcome=each) for i, each in enumerate(outcomes)]).outcome == wanted


@pytest.mark.parametrize(
    ("body", "matches"),
    [
        ({"tools": ("refund",)}, True),
        ({"tools": ("re*",)}, True),
        ({"tools": ("Refund",)}, False),
        ({"tools": ("refund ",)}, False),
        ({"tools": ("rеfund",)}, False),
        ({"tools": ("send_*", "refund")}, True),
        ({"agents": ("refund-*",)}, True),
        ({"agents": ("other",)}, False),
        ({"risks": ("critical",)}, False),
        ({"risks": ("high", "critical")}, True),
        ({"when": "args.amount > 1000.0"}, True),
        ({"when": "args.amount > 2000.0"}, False),
        ({"when": 'args.currency == "EUR" && agent == "refund-desk" && risk == "high"'}, True),
    ],
)
def test_a_rule_names_tools_agents_risks_and_a_condition(body: Any, matches: bool) -> None:
    assert (demanded(a_rule(outcome="deny", **body)).outcome == "deny") is matches


@pytest.mark.parametrize("outcome", ["allow", "require_approval", "deny"])
@pytest.mark.parametrize("when", ["args.missing > 1", "args.order_id > 5", '"text"'])
def test_a_rule_that_cannot_be_evaluated_asks_an_admin_whatever_its_outcome(outcome: Any, when: str) -> None:
    need = demanded(a_rule(outcome=outcome, when=when))
    assert need.outcome == "require_approval"
    assert need.demands == (Demand(1, (ADMINS,)),)
    assert need.errors


def test_one_set_of_rules_judges_each_call_by_its_own_arguments() -> None:
    rules = RuleSet((a_rule(outcome="deny", when='args.order_id == "1"'),), DEFAULT)
    given = [{**ARGUMENTS, "order_id": order} for order in ("2", "1", "2")]
    found = [evaluate(a_call(risk="low", arguments=each), rules, now=NOW).outcome for each in given]
    assert found == ["allow", "deny", "allow"]


def test_one_set_of_rules_without_conditions_tells_tools_agents_and_risks_apart() -> None:
    rules = RuleSet((a_rule(outcome="deny", tools=("refund",), agents=("desk",), risks=("low",)),), DEFAULT)
    kinds = [("refund", "desk", "low"), ("send", "desk", "low"), ("refund", "night", "low"), ("refund", "desk", "high")]
    for _ in range(2):
        made = [a_call(tool=tool, agent=agent, risk=risk) for tool, agent, risk in kinds]
        assert [evaluate(call, rules, now=NOW).outcome for call in made] == [
            "deny",
            "allow",
            "allow",
            "require_approval",
        ]


def test_arguments_that_are_no_json_ask_an_admin() -> None:
    call = replace(a_call(), arguments='{"a":1,"a":2}')
    need = evaluate(call, RuleSet((a_rule(outcome="allow", when="true"),), DEFAULT), now=NOW)
    assert need.of == (ADMINS,)


def test_a_number_of_twenty_digits_asks_an_admin() -> None:
    need = demanded(
        a_rule(outcome="allow", when="args.amount < 1000.0"),
        arguments={**ARGUMENTS, "amount": "12345678901234567890.12"},
    )
    assert need.of == (ADMINS,)
    assert "12345678901234567890.12" in need.errors[0]


def test_another_rules_denial_outranks_the_doubt() -> None:
    assert demanded(a_rule(when="args.missing > 1"), a_rule("never", outcome="deny")).outcome == "deny"


def test_the_trace_names_the_rules_their_versions_and_the_values() -> None:
    need = demanded(a_rule("large", version=4, when="args.amount > 1000.0 && args.currency == 'EUR'"))
    assert [(each.rule, each.version, each.outcome) for each in need.trace] == [("large", 4, "require_approval")]
    assert dict(need.trace[0].values) == {"args.amount": "1240.00", "args.currency": "EUR"}


def test_the_trace_masks_what_is_sensitive() -> None:
    call = a_call()
    call = replace(call, tool_definition={**call.tool_definition, "sensitive": ["amount"]})
    need = evaluate(call, RuleSet((a_rule(when="args.amount > 1.0"),), DEFAULT), now=NOW)
    assert dict(need.trace[0].values) == {"args.amount": "•••"}


def test_joined_rules_are_each_to_be_met() -> None:
    need = demanded(
        a_rule("a", of=(FINANCE,), approvals=1, response_timeout=60, answers=("approve", "edit", "reject")),
        a_rule("b", of=(LEGAL,), approvals=1, reason_required=True, on_timeout="fail_run", answers=("approve",)),
    )
    one = [Voter("1", frozenset({("group", "finance")}))]
    both = [*one, Voter("2", frozenset({("group", "legal")}))]
    assert missing(need, one) == 1
    assert missing(need, both) == 0
    assert (need.response_timeout, need.on_timeout, need.reason_required) == (60, "fail_run", True)
    assert need.answers == ("approve",)


@pytest.mark.parametrize(("risk", "silence"), [("low", "approve"), ("medium", "expire"), ("critical", "expire")])
def test_silence_approves_a_low_risk_only(risk: str, silence: str) -> None:
    assert demanded(a_rule(on_timeout="approve"), risk=risk).on_timeout == silence


places = st.sampled_from(
    [FINANCE, LEGAL, Place("member", "m"), replace(FINANCE, at_least=1), replace(LEGAL, at_least=1)]
)
rules = st.builds(
    Rule,
    id=st.sampled_from(["a", "b", "c"]),
    name=st.just("n"),
    outcome=st.sampled_from(["allow", "require_approval", "deny"]),
    approvals=st.integers(1, 4),
    of=st.lists(places, max_size=3, unique_by=lambda each: each.key).map(tuple),
    answers=st.lists(st.sampled_from(ANSWERS), min_size=1, unique=True).map(tuple),
    reason_required=st.sampled_from([None, True, False]),
    response_timeout=st.integers(1, 1000),
    on_timeout=st.sampled_from(["expire", "fail_run", "approve"]),
    when=st.sampled_from([None, "true", "false", "args.missing > 1", "args.amount > 1000.0"]),
)
voters = st.lists(
    st.builds(
        Voter,
        key=st.uuids().map(str),
        places=st.frozensets(
            st.sampled_from(
                [("group", "finance"), ("group", "legal"), ("role", "reviewer"), ("member", "m"), ("role", "admin")]
            )
        ),
        anywhere=st.booleans(),
    ),
    max_size=6,
)


@given(st.lists(rules, max_size=4), st.randoms())
def test_the_order_of_rules_does_not_matter(each: list[Rule], chance: Any) -> None:
    shuffled = list(each)
    chance.shuffle(shuffled)
    one, two = demanded(*each), demanded(*shuffled)
    assert (one.outcome, one.demands, one.answers, one.on_timeout) == (
        two.outcome,
        two.demands,
        two.answers,
        two.on_timeout,
    )


@given(st.lists(rules, min_size=1, max_size=3), rules, voters)
def test_one_more_rule_never_loosens(each: list[Rule], more: Rule, people: list[Voter]) -> None:
    before, after = demanded(*each), demanded(*each, more)
    if before.trace == demanded().trace:
        return  # Only the default counted; a rule that matches may loosen that.
    order = ["allow", "require_approval", "deny"]
    assert order.index(after.outcome) >= order.index(before.outcome)
    if before.outcome == after.outcome == "require_approval":
        assert missing(after, people) >= missing(before, people)
        assert after.covers(before)


@given(rules, rules, voters)
def test_the_join_is_met_only_when_both_are(one: Rule, two: Rule, people: list[Voter]) -> None:
    a, b = demanded(one), demanded(two)
    joined = a.join(b)
    assert joined.covers(a)
    assert joined.covers(b)
    if {a.outcome, b.outcome} == {"require_approval"} and missing(joined, people) == 0:
        assert missing(a, people) == 0
        assert missing(b, people) == 0


@given(rules, voters)
def test_one_more_voter_never_hinders(rule: Rule, people: list[Voter]) -> None:
    need = demanded(rule)
    for count in range(len(people)):
        assert missing(need, people[: count + 1]) <= missing(need, people[:count])
    given_, wanted = progress(need, people)
    assert (given_ >= wanted) or missing(need, people) > 0 or need.outcome != "require_approval"


@given(st.lists(rules, max_size=3))
def test_what_is_written_down_is_read_back(each: list[Rule]) -> None:
    need = demanded(*each)
    assert from_json(need.as_json()) == need


def test_one_person_fills_one_seat() -> None:
    need = Requirement("require_approval", (Demand(2, (replace(FINANCE, at_least=1), replace(LEGAL, at_least=1))),))
    both = Voter("1", frozenset({("group", "finance"), ("group", "legal")}))
    other = Voter("2", frozenset({("group", "finance")}))
    assert missing(need, [both]) == 1
    assert missing(need, [other, both]) == 0
    assert missing(need, [other, Voter("3", frozenset({("group", "finance")}))]) == 1
    assert missing(need, [other, Voter("3", anywhere=True)]) == 0


def test_decimals_are_numbers_and_other_text_stays_text() -> None:
    schema = {
        "properties": {
            "a": {"type": "string", "format": "decimal"},
            "b": {"$ref": "#/$defs/M"},
            "c": {"items": {"anyOf": [{"type": "null"}, {"type": "string", "format": "decimal"}]}},
            "d": {"type": "string"},
        },
        "$defs": {"M": {"properties": {"x": {"type": "string", "format": "decimal"}}}},
    }
    values = policy.typed_arguments('{"a":"1.50","b":{"x":"2"},"c":["3",null],"d":"4"}', schema)
    assert values["a"] + 1 == values["b"]["x"] + values["a"] - 1
    assert values["c"][0] == 3
    assert values["d"] == "4"


def test_a_stricter_requirement_is_not_covered() -> None:
    one = Requirement("require_approval", (Demand(1),))
    two = Requirement("require_approval", (Demand(2),))
    assert two.stricter_than(one)
    assert not one.stricter_than(two)
    assert Requirement("deny").stricter_than(two)
    assert not Requirement("allow").stricter_than(one)
    assert one.join(Requirement("require_approval", (Demand(1),), escalation=UUID(int=1))).escalation == UUID(int=1)
