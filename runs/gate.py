"""May this call go on? The only caller of approvals: rules, requests, and the checks before the act (A3.4)."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.pq.abc import PGresult

from approvals import calls, policy, requests, requirements, reviewers, rosters, rules
from approvals.latest import READ, told
from approvals.policy import RuleSet
from approvals.requests import RequestView
from approvals.requirements import Requirement
from approvals.rosters import Roster
from runs.agents import Agent
from runs.entries import RunRecord
from runs.tools import Tool
from tenants import exact_json, prepared, stamps
from tenants.actors import Actor
from tenants.models import AgentAccess, ToolSetting
from tenants.scope import ENTER, scope

ROUNDS = 3
PEOPLE = 100  # Tenants whose people a process keeps.


@dataclass(frozen=True)
class Standing:
    """What a tenant has settled, as of one stamp."""

    stamp: int
    rules: RuleSet
    risks: Mapping[str, str]
    off: frozenset[str]
    agents: frozenset[str]


_cache: dict[UUID, Standing] = {}
_people: dict[UUID, Roster] = {}
_lock = threading.Lock()


def standing_here(tenant: UUID, *, stamp: int | None = None) -> Standing:
    """The rules and switches of the tenant in scope as they are now; kept by stamp.

    `stamp` is the tenant's where it was just read; else unchanged rules cost one query.
    """
    known = _cache.get(tenant)
    if known is not None and known.stamp == (stamps.read() if stamp is None else stamp):
        return known
    loaded = rules.load()
    settled = list(ToolSetting.objects.all())
    read = Standing(
        stamp=loaded.stamp,
        rules=loaded,
        risks={each.tool: each.risk for each in settled if each.risk},
        off=frozenset(each.tool for each in settled if not each.enabled),
        agents=frozenset(AgentAccess.objects.filter(enabled=True).values_list("agent", flat=True)),
    )
    with _lock:
        _cache[tenant] = read
    return read


def _standing(tenant: UUID, stamp: int) -> Standing:
    known = _cache.get(tenant)
    if known is not None and known.stamp == stamp:
        return known
    with scope(tenant, read_only=True):
        return standing_here(tenant, stamp=stamp)


@dataclass(frozen=True)
class Wanted:
    """One call of one step, as the engine has it; `evidence` and `precondition` are JSON texts once read."""

    run: RunRecord
    agent: Agent
    tool: Tool
    seq: int
    proposed: str
    arguments: str
    digest: str
    rationale: str = ""
    evidence: str | None = None
    evidence_error: str = ""
    precondition: str | None = None
    plain: Mapping[str, Any] | None = None
    """The arguments as JSON values, where they are at hand."""
    seen: Sequence[Mapping[str, Any]] = ()
    """What the agent had seen, as `runs.seen.told`; read when people are asked, and no part of what is judged."""
    dependents: int = 0
    """How many calls of its turn wait for this one, as `plan.dependents` counts them; as `seen`."""


def proposed(wanted: Wanted, settled: Standing) -> calls.ProposedCall:
    """The call as rules read it and people are shown it."""
    run, tool = wanted.run, wanted.tool
    return calls.ProposedCall(
        tool=tool.name,
        tool_title=tool.title,
        summary=tool.sentence(exact_json.loads(wanted.arguments) if wanted.plain is None else wanted.plain),
        agent=wanted.agent.name,
        agent_version=run.version,
        risk=_risk(tool, settled),
        effect=tool.effect.value,
        arguments=wanted.arguments,
        digest=wanted.digest,
        tool_definition=tool.definition,
        proposed_arguments=wanted.proposed,
        rationale=wanted.rationale,
        initiators=run.initiators,
        initiator=run.started_by,
        labels=run.labels,
        run=_run_of(wanted),
        evidence=wanted.evidence,
        evidence_error=wanted.evidence_error,
        precondition=wanted.precondition,
    )


def _run_of(wanted: Wanted) -> dict[str, Any]:
    run = wanted.run
    told: dict[str, Any] = {"id": str(run.id), "title": run.title, "step": wanted.seq, "agent": run.agent}
    told |= {"seen": list(wanted.seen)} if wanted.seen else {}
    return told | ({"dependents": wanted.dependents} if wanted.dependents else {})


def digest(tool: Tool, arguments: str) -> str:
    """The digest of these bound arguments, keyed where a parameter is sensitive."""
    return calls.digest(arguments, sensitive=tool.sensitive)


def digest_of(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """The same of arguments that are at hand as JSON values."""
    return calls.digest_of(arguments, sensitive=tool.sensitive)


def known(tool: Tool, agent: Agent, settled: Standing) -> Requirement | None:
    """What is demanded of every call of the tool, as `judge` found it; None where the call itself has to be judged."""
    if tool.name in settled.off or agent.name not in settled.agents:
        return None
    return settled.rules.settled.get((tool.name, agent.name, _risk(tool, settled)))


def _risk(tool: Tool, settled: Standing) -> str:
    return tool.risk.at_least(settled.risks.get(tool.name)).value


def judge(call: calls.ProposedCall, settled: Standing, *, now: datetime) -> Requirement:
    """What the tenant's switches and rules demand of the call."""
    if call.tool in settled.off or call.agent not in settled.agents:
        return Requirement(outcome="deny")
    return policy.evaluate(call, settled.rules, now=now)


def why_denied(call: calls.ProposedCall, settled: Standing, requirement: Requirement) -> str:
    """The sentence that the model and the people who watch read about a denied call."""
    if call.tool in settled.off:
        return f"Refused: the tool {call.tool} is switched off. The call was not run."
    if call.agent not in settled.agents:
        return f"Refused: the agent {call.agent} is switched off. The call was not run."
    names = ", ".join(dict.fromkeys(each.name for each in requirement.trace if each.outcome == "deny"))
    return f"Refused by the rule {names}. The call was not run." if names else "Refused. The call was not run."


@dataclass(frozen=True)
class Look:
    """What a worker needs before it plans: what is settled, a run's requests, and the database's time."""

    settled: Standing
    views: dict[int, RequestView]
    now: datetime


def look(tenant: UUID, subject: str) -> Look:
    """All of it, in one round trip where nothing changed."""
    return seen(tenant, _read(tenant, subject))


def question(subject: str) -> prepared.Question:
    """What asks for a run's requests in a transaction that has a tenant."""
    return READ, (subject,)


def read(asked: PGresult) -> requests.Look:
    """The requests, as the answer to `question` tells them; asks nothing."""
    return told(prepared.read(asked, tuple))


def seen(tenant: UUID, found: requests.Look) -> Look:
    """The requests as they were read; what is settled is read where the tenant's stamp has grown."""
    return Look(_standing(tenant, found.stamp), _by_step(found), found.now)


def latest(tenant: UUID, subject: str) -> dict[int, RequestView]:
    """The latest request of each step of a run."""
    return _by_step(_read(tenant, subject))


def _read(tenant: UUID, subject: str) -> requests.Look:
    _entered, asked = prepared.together([[(ENTER, (str(tenant),)), question(subject)]])
    return read(asked)


def _by_step(found: requests.Look) -> dict[int, RequestView]:
    return {int(ref): view for ref, view in found.views.items()}


def latest_here(subject: str) -> dict[int, RequestView]:
    """The same within a scope that is open already."""
    return {int(ref): view for ref, view in requests.latest(subject).items()}


def ask(call: calls.ProposedCall, requirement: Requirement, *, subject: str, seq: int, actor: Actor) -> None:
    """Put the call to people. Needs the run's scope and lock."""
    requests.open(call, subject=subject, ref=str(seq), requirement=requirement, actor=actor)


@dataclass(frozen=True)
class Moved:
    """What moved since the yes: without a requirement the call is refused, else asked again with the difference."""

    because: str
    requirement: Requirement | None = None
    keep_votes: bool = False
    fields: Sequence[Mapping[str, Any]] = ()


def checked(wanted: Wanted, view: RequestView, settled: Standing, *, now: datetime) -> Moved | None:
    """The checks before the act, but for the precondition: definition, arguments, rules, rights. None: go on.

    Needs no scope, and is good while the tenant's stamp is that of `settled`. `wanted.arguments` are the approved ones,
    validated by the signature once more.
    """
    call = proposed(wanted, settled)
    requirement = judge(call, settled, now=now)
    if requirement.outcome == "deny":
        return Moved(why_denied(call, settled, requirement))
    if because := _became_another(wanted, view):
        return Moved(because, view.requirement.join(requirement), fields=difference(view.arguments, wanted.arguments))
    if requirement.stricter_than(view.requirement):
        stricter = view.requirement.join(requirement)
        return Moved("The rules ask for more than when this was approved.", stricter, keep_votes=True)
    return _rights(wanted.run.tenant, view, stamp=settled.stamp, now=now)


def _known_people(tenant: UUID, stamp: int, now: datetime) -> Roster | None:
    """The tenant's people as they were read before, where they are so still; kept by stamp, as the rules are."""
    known = _people.get(tenant)
    return replace(known, now=max(known.now, now)) if known and known.holds(stamp=stamp, now=now) else None


def _read_people(tenant: UUID) -> Roster:
    found = rosters.roster()
    with _lock:
        _people.pop(tenant, None)
        while len(_people) >= PEOPLE:
            del _people[next(iter(_people))]
        _people[tenant] = found
    return found


def _became_another(wanted: Wanted, view: RequestView) -> str:
    if wanted.tool.fingerprint != view.fingerprint:
        return f"The tool {wanted.tool.name} is defined differently than when this was approved."
    if wanted.digest != view.digest:
        return "The tool reads the arguments differently than they were approved."
    return ""


def _rights(tenant: UUID, view: RequestView, *, stamp: int, now: datetime) -> Moved | None:
    """Whether those who said yes still may; a yes by silence has no voters and rests on its rule alone."""
    if not view.voters:
        return None
    people = _known_people(tenant, stamp, now)
    if people is None or view.requirement.escalation:
        with scope(tenant, read_only=True):
            people = people or _read_people(tenant)
            votes = reviewers.still_standing(people, view.requirement, view.given)
    else:
        votes = reviewers.still_standing(people, view.requirement, view.given)
    if requirements.missing(view.requirement, [vote.voter for vote in votes]) == 0:
        return None
    return Moved("Somebody who approved this may no longer do so.", view.requirement, keep_votes=True)


def difference(before: str, after: str) -> list[dict[str, Any]]:
    """Which top-level fields of two JSON objects differ, with both values."""
    old, new = exact_json.loads(before), exact_json.loads(after)
    names = dict.fromkeys([*old, *new])
    pairs = [{"name": name, "before": old.get(name), "after": new.get(name)} for name in names]
    return [each for each in pairs if exact_json.canonical(each["before"]) != exact_json.canonical(each["after"])]


def same(before: str | None, after: str | None) -> bool:
    """Whether two JSON texts have one value."""
    if before is None or after is None:
        return before is after
    return exact_json.canonical(exact_json.loads(before)) == exact_json.canonical(exact_json.loads(after))


def ask_again(wanted: Wanted, view: RequestView, moved: Moved, settled: Standing, *, actor: Actor) -> None:
    """Supersede an approved request by one that shows what moved. Needs the run's scope and lock."""
    if moved.requirement is None:
        raise ValueError("A refused call is not asked again.")
    requests.supersede(
        view.id,
        call=proposed(wanted, settled),
        requirement=moved.requirement,
        actor=actor,
        difference={"because": moved.because, "fields": list(moved.fields)},
        keep_votes=moved.keep_votes,
    )
