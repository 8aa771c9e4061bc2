"""A draft rule tried on past calls: what it would have changed, with counts and examples."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from approvals import clock, frozen, policy, rule_bodies, rules
from approvals.calls import ProposedCall
from approvals.models import ApprovalRequest, RequestVersion
from approvals.policy import Rule, RuleSet
from approvals.requirements import Requirement

PERIOD = timedelta(days=30)
MOST = 5000
EXAMPLES = 50


@dataclass(frozen=True)
class PastCall:
    """One real call of the tenant: what it was, when, where it is told of, and what came of it."""

    call: ProposedCall
    at: datetime
    subject: str
    ref: str
    outcome: str


Source = Callable[[datetime, int], Iterable[PastCall]]

SOURCES: list[Source] = []
"""Where calls that nobody was asked about are found; a floor above registers what it remembers."""


def run(draft: Mapping[str, Any], *, replaces: UUID | None = None, now: datetime | None = None) -> dict[str, Any]:
    """Try the draft beside the live rules (or in the place of one) on the calls of the last 30 days.

    Raises Refusal 422 for a draft that could not be saved.
    """
    at = now or clock.now()
    live = rules.load()
    body = rule_bodies.validated(draft, is_default=str(replaces) == live.default.id)
    tried = _with(live, rule_bodies.rule_of(body, id="draft", version=0), replaces)
    calls = sorted(_calls(at - PERIOD), key=lambda each: each.at, reverse=True)[:MOST]
    judged = [(each, policy.evaluate(each.call, live, now=each.at), policy.evaluate(each.call, tried, now=each.at))
              for each in calls]  # fmt: skip
    changed = [each for each in judged if _differ(each[1], each[2])]
    return {
        "since": at - PERIOD,
        "calls": len(calls),
        "before": _counts(before for _call, before, _after in judged),
        "after": _counts(after for _call, _before, after in judged),
        "changed": len(changed),
        "more": sum(after.outcome == "require_approval" != before.outcome for _call, before, after in changed),
        "fewer": sum(before.outcome == "require_approval" != after.outcome for _call, before, after in changed),
        "examples": [_example(*each) for each in changed[:EXAMPLES]],
    }


def _with(live: RuleSet, draft: Rule, replaces: UUID | None) -> RuleSet:
    if str(replaces) == live.default.id:
        return RuleSet(live.rules, draft, live.stamp)
    kept = tuple(rule for rule in live.rules if rule.id != str(replaces))
    return RuleSet((*kept, draft), live.default, live.stamp)


def _calls(since: datetime) -> Iterable[PastCall]:
    """The calls people were asked about, and those that other floors remember; each once."""
    seen = set()
    for past in (*_asked_about(since), *(each for source in SOURCES for each in source(since, MOST))):
        if (past.subject, past.ref) not in seen:
            seen.add((past.subject, past.ref))
            yield past


def _asked_about(since: datetime) -> list[PastCall]:
    first = RequestVersion.objects.filter(number=1, request__opened_at__gte=since).select_related("request__worded")
    return [_past(row.request, row) for row in first.order_by("-request__opened_at")[:MOST]]


def _past(request: ApprovalRequest, version: RequestVersion) -> PastCall:
    call = frozen.call_of(request, version)
    return PastCall(call, request.opened_at, request.subject, request.ref, request.status)


def _counts(needs: Iterable[Requirement]) -> dict[str, int]:
    found = {"allow": 0, "require_approval": 0, "deny": 0, "not_evaluable": 0, "answers": 0}
    for need in needs:
        found[need.outcome] += 1
        found["not_evaluable"] += bool(need.errors)
        found["answers"] += need.approvals
    return found


def _differ(before: Requirement, after: Requirement) -> bool:
    """Whether another outcome, or other answers of people, would let the call go on."""
    if (before.outcome, bool(before.errors)) != (after.outcome, bool(after.errors)):
        return True
    return not (before.covers(after) and after.covers(before))


def _example(past: PastCall, before: Requirement, after: Requirement) -> dict[str, Any]:
    return {
        "summary": past.call.summary,
        "tool": past.call.tool,
        "agent": past.call.agent,
        "at": past.at,
        "subject": past.subject,
        "step": past.ref,
        "before": _told(before),
        "after": _told(after),
        "came_of_it": past.outcome,
    }


def _told(need: Requirement) -> dict[str, Any]:
    demands = [demand.as_json() for demand in need.demands]
    return {"outcome": need.outcome, "approvals": need.approvals, "demands": demands, "errors": list(need.errors)}
