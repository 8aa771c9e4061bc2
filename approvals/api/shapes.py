"""How requests, reviews and rules look on the wire."""

from datetime import timedelta
from typing import Any

from approvals import asked
from approvals.calls import MASK, concealed
from approvals.facts import Facts
from approvals.models import ApprovalRequest, Review
from approvals.requirements import Place, Requirement
from approvals.rosters import Roster
from approvals.staffing import Staffing
from tenants import exact_json
from tenants.exact_json import BadJson

REQUEST = ["id", "status", "version", "tool", "summary", "arguments", "proposed_arguments", "digest", "rationale"]
REQUEST += ["risk", "effect", "subject", "run", "step", "agent", "agent_version", "evidence", "precondition", "flags"]
REQUEST += ["answers", "requirement", "approvals_given", "approvals_needed", "reviews", "asked", "escalation_level"]
REQUEST += ["next_escalation_at", "deadline", "decided_at", "decided_by", "decision", "comment", "response"]
REQUEST += ["initiators", "supersedes", "superseded_by", "round", "difference", "created_at"]
"""The names of a request's shape, in their order: the columns of its export."""


def request(facts: Facts, names: Roster) -> dict[str, Any]:
    """A request as the API tells it."""
    row, given_needed = facts.request, facts.progress
    return {
        "id": row.id,
        "status": row.status,
        "version": row.version,
        "tool": row.tool,
        "summary": facts.version.title,
        "arguments": arguments(facts.version.arguments, row),
        "proposed_arguments": arguments(row.proposed_arguments, row),
        "digest": facts.version.digest,
        "rationale": row.rationale or None,
        "risk": row.risk,
        "effect": row.effect,
        "subject": row.subject,
        "run": run_of(row),
        "step": step_of(row),
        "agent": row.agent,
        "agent_version": row.agent_version,
        "evidence": _json(row.evidence),
        "precondition": _json(row.precondition),
        "flags": row.flags,
        "answers": list(facts.answers),
        "requirement": requirement(facts.requirement, names),
        "approvals_given": given_needed[0],
        "approvals_needed": given_needed[1],
        "reviews": [review(each, facts, names) for each in facts.reviews],
        "asked": [_asked(each, names) for each in facts.asked],
        "escalation_level": row.escalation_level,
        "next_escalation_at": facts.next_escalation_at,
        "deadline": row.deadline,
        "decided_at": row.decided_at,
        "decided_by": row.decided_by,
        "decision": row.decision or None,
        "comment": row.comment or None,
        "response": row.response or None,
        "initiators": row.initiators,
        "supersedes": row.supersedes_id,
        "superseded_by": facts.superseded_by,
        "round": row.round,
        "difference": difference(row),
        "created_at": row.opened_at,
    }


def review(row: Review, facts: Facts, names: Roster) -> dict[str, Any]:
    """One person's answer; `counts` says whether it counts for the version that stands."""
    counts = row.pk in {vote.review.pk for vote in facts.votes}
    return {
        "member": row.member_id,
        "name": names.name(row.member_id),
        "in_place_of": row.in_place_of_id,
        "version": row.version,
        "decision": row.decision,
        "comment": row.comment,
        "channel": row.channel,
        "at": row.at,
        "counts": counts or row.decision in ("reject", "respond"),
    }


def requirement(need: Requirement, names: Roster) -> dict[str, Any]:
    """What the rules together demand, with the trace of how it came about."""
    return {
        "outcome": need.outcome,
        "approvals": need.approvals,
        "of": [place(each, names) for each in need.of],
        "demands": [
            {"approvals": each.approvals, "of": [place(one, names) for one in each.pool]} for each in need.demands
        ],
        "answers": list(need.answers),
        "reason_required": need.reason_required,
        "response_timeout": need.response_timeout,
        "working_time": need.working_time,
        "calendars": list(need.calendars),
        "on_timeout": need.on_timeout,
        "escalation_policy": need.escalation,
        "trace": [{**each.as_json(), "values": dict(each.values)} for each in need.trace],
    }


def coverage(found: Staffing) -> dict[str, Any]:
    """Who could answer when; `expires` says that a request made at a gap's beginning finds too few until its end,
    `made_until` by when it has to be made for that: one made later lasts beyond the gap."""
    return {
        "since": found.since,
        "until": found.until,
        "approvals": found.approvals,
        "short_hours": round(found.short / timedelta(hours=1), 2),
        "gaps": [
            {"from": gap.starts, "until": gap.ends, "expires": gap.expires, "made_until": gap.last}
            for gap in found.gaps
        ],
        "stretches": [
            {
                "from": each.starts,
                "until": each.ends,
                "people": [{"id": key, "name": found.people.name(key)} for key in each.members],
                "short": each.short,
                "tight": each.tight,
            }
            for each in found.stretches
        ],
    }


def place(each: Place, names: Roster) -> dict[str, Any]:
    """Some of the people who may answer, by name and id."""
    label = each.key
    if each.kind == "group":
        label = names.groups.get(each.key, "–")
    elif each.kind == "member":
        label = next((one.name for one in names.people.values() if str(one.id) == each.key), "–")
    return {each.kind: label, "id": None if each.kind == "role" else each.key, "at_least": each.at_least}


def arguments(text: str, row: ApprovalRequest) -> Any:
    """Arguments as a JSON value with exact numbers, sensitive ones masked; as text where it is no JSON."""
    try:
        value = exact_json.loads(text)
    except BadJson:
        return text
    return concealed(value, sensitive=row.definition.get("sensitive") or ())


def difference(row: ApprovalRequest) -> Any:
    """What moved since the request it replaces, sensitive values masked."""
    if row.difference is None:
        return None
    hidden = set(row.definition.get("sensitive") or ())
    fields = [
        {**each, "before": MASK, "after": MASK} if each.get("name") in hidden else each
        for each in row.difference.get("fields", ())
    ]
    return {**row.difference, "fields": fields}


def run_of(row: ApprovalRequest) -> str | None:
    """The id of the run the request is about, if it is about one."""
    kind, _sep, key = row.subject.partition(":")
    return key if kind == "run" else None


def step_of(row: ApprovalRequest) -> int | str | None:
    """The number of the step the request is about."""
    return int(row.ref) if row.ref.isdecimal() else row.ref or None


def _asked(row: Any, names: Roster) -> dict[str, Any]:
    return {
        "member": row.member_id,
        "name": names.name(row.member_id),
        "level": row.level,
        "because": asked.because(row.because, names),
        "from": row.since,
        "until": row.until,
    }


def _json(text: str | None) -> Any:
    return None if text is None else exact_json.loads(text)
