"""The only writer of request state: open, edit, resolve, cancel, supersede. All need a scope and the subject's lock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn
from uuid import UUID

from approvals import asked, calendars, checks, clock, ladder, precedents, requirements, states, texts
from approvals.calls import ProposedCall
from approvals.errors import NotPending
from approvals.models import ApprovalRequest, RequestVersion, Review
from approvals.requirements import Requirement
from approvals.reviewers import Roster, asking, counted, roster
from approvals.signals import request_resolved
from approvals.story import tell
from tenants import ids, locks
from tenants.actors import SYSTEM, Actor
from tenants.models import Tenant
from tenants.scope import current


@dataclass(frozen=True)
class RequestView:
    """What the engine needs to know of a step's latest request; `arguments` are those of the version that stands."""

    id: UUID
    ref: str
    status: str
    version: int
    round: int
    arguments: str
    digest: str
    decision: str
    comment: str
    response: str
    text: str
    edited_fields: tuple[str, ...]
    deadline: datetime
    requirement: Requirement
    fingerprint: str
    precondition: str | None
    voters: tuple[UUID, ...]


def open(  # noqa: A001  The verb of the design; the built-in is not wanted here.
    call: ProposedCall,
    *,
    subject: str,
    ref: str,
    requirement: Requirement,
    actor: Actor,
    supersedes: ApprovalRequest | None = None,
    round: int = 0,  # noqa: A002  The word of the contract.
    difference: Mapping[str, Any] | None = None,
    carried_votes: Sequence[Review] = (),
    key: UUID | None = None,
) -> ApprovalRequest:
    """Put the question to people; the deadline counts from now, when it is listed.

    `requirement.outcome` must be `require_approval`. Votes carried over from a superseded request count at once, so
    the request may come back approved.
    """
    locks.demand(subject)
    if requirement.outcome != "require_approval":
        raise ValueError(f"A call that the rules {requirement.outcome} has no request.")
    now = clock.now()
    request = ApprovalRequest(
        id=key or ids.new(),
        tenant_id=current(),
        subject=subject,
        ref=ref,
        round=round,
        requirement=requirement.as_json(),
        supersedes=supersedes,
        difference=difference,
        opened_at=now,
        deadline=_deadline(requirement, now),
        **_frozen(call),
    )
    request.precedents = precedents.past(call)
    request.flags = checks.flags(call.arguments, request)
    request.save(force_insert=True)
    _write_version(request, call.arguments, title=call.summary, digest=call.digest)
    tell(
        request,
        "approval.requested",
        actor=actor,
        message=f"Asked for approval: {call.summary}",
        data=_asked_for(request),
    )
    _carry(request, carried_votes)
    people, ask = roster(now=now), asking(request)
    ladder.climb(request, people, ask, now=now)
    if carried_votes:
        settle(request, people=people, actor=actor, now=now)
    return request


def edit(
    request: ApprovalRequest,
    *,
    arguments: str,
    fields: Sequence[str],
    title: str,
    digest: str,
    requirement: Requirement,
    member: UUID,
    actor: Actor,
    comment: str,
    now: datetime,
) -> RequestVersion:
    """Make the next version; votes for the earlier ones lapse, deadline and level stay."""
    _demand_pending(request)
    request.version += 1
    request.requirement = requirement.as_json()
    request.flags = checks.flags(arguments, request)
    request.save(update_fields=["version", "requirement", "flags"])
    version = _write_version(
        request, arguments, title=title, digest=digest, member=member, fields=fields, comment=comment
    )
    data = {"version": request.version, "fields": list(fields)}
    tell(request, "approval.edited", actor=actor, message=f"{actor.name} edited {', '.join(fields)}", data=data)
    ladder.climb(request, roster(now=now), asking(request), now=now)
    return version


def settle(request: ApprovalRequest, *, people: Roster, actor: Actor, now: datetime, comment: str = "") -> int:
    """End the request as approved if the votes for its version suffice; return how many are still missing."""
    reviews = Review.objects.filter(request=request, version=request.version).order_by("at", "id")
    votes = counted(people, asking(request), reviews)
    need = requirements.from_json(request.requirement)
    missing = requirements.missing(need, [vote.voter for vote in votes])
    if missing == 0:
        decision = "edit" if request.version > 1 else "approve"
        resolve(request, "approved", actor=actor, decision=decision, comment=comment, now=now)
    return missing


def resolve(
    request: ApprovalRequest,
    status: str,
    *,
    actor: Actor,
    now: datetime,
    decision: str = "",
    comment: str = "",
    response: str = "",
    because: str = "",
) -> None:
    """End the request and tell the floor above, in this transaction; nobody is asked any longer."""
    _close(request, status, actor=actor, now=now, decision=decision, comment=comment, response=response)
    data = {"decision": decision, "comment": comment, "version": request.version, "digest": digest_of(request)}
    data |= {"because": because} if because else {}
    tell(request, states.EVENTS[status], actor=actor, message=_ended(request, actor), data=data)
    need = requirements.from_json(request.requirement)
    request_resolved.send(
        sender=ApprovalRequest,
        request=request,
        subject=request.subject,
        ref=request.ref,
        status=status,
        text=texts.of_decision(status, comment=comment, response=response),
        actor=actor,
        fail_run=status == "expired" and need.on_timeout == "fail_run",
    )


def lapse(request: ApprovalRequest, *, now: datetime) -> None:
    """The deadline has come: silence ends the request as its rules say, and never as a person's answer."""
    need = requirements.from_json(request.requirement)
    if need.on_timeout == "approve" and request.risk == "low":
        resolve(request, "approved", actor=SYSTEM, decision="approve", because="silence", now=now)
    else:
        resolve(request, "expired", actor=SYSTEM, now=now)


def cancel_open(subject: str, *, actor: Actor, because: str) -> list[UUID]:
    """Close every pending request of the subject, as when its run ends; the caller already knows, so no signal."""
    locks.demand(subject)
    now = clock.now()
    pending = list(ApprovalRequest.objects.filter(subject=subject, status="pending").order_by("opened_at", "id"))
    for request in pending:
        _close(request, "cancelled", actor=actor, now=now, comment=because)
        message = f"Closed: {title_of(request)} ({because})"
        tell(request, "approval.cancelled", actor=actor, message=message, data={"because": because})
    return [request.id for request in pending]


def supersede(
    request_id: UUID,
    *,
    call: ProposedCall,
    requirement: Requirement,
    actor: Actor,
    difference: Mapping[str, Any] | None,
    keep_votes: bool,
) -> ApprovalRequest:
    """Replace a pending or approved request by a new one that shows the difference.

    `difference` is `{"because": sentence, "fields": [{"name", "before", "after"}]}`. With `keep_votes` the
    approvals of the last version are carried over; they count if their givers still may give them.
    """
    old = ApprovalRequest.objects.get(pk=request_id)
    locks.demand(old.subject)
    now, key = clock.now(), ids.new()
    votes = Review.objects.filter(request=old, version=old.version, decision__in=("approve", "edit"))
    carried = list(votes.order_by("at", "id")) if keep_votes else []
    pending = old.status == "pending"
    old.status = "superseded"
    old.due_at = None
    if pending:
        old.decided_at, old.decided_by = now, actor.as_json()
    old.save(update_fields=["status", "due_at", "decided_at", "decided_by"])
    asked.close(old, now=now)
    because = str((difference or {}).get("because", ""))
    data = {"by": str(key), "because": because}
    tell(old, "approval.superseded", actor=actor, message=f"Asked again: {because}", data=data)
    return open(
        call,
        subject=old.subject,
        ref=old.ref,
        requirement=requirement,
        actor=actor,
        supersedes=old,
        round=old.round + 1,
        difference=difference,
        carried_votes=carried,
        key=key,
    )


def latest(subject: str) -> dict[str, RequestView]:
    """The newest request of each step of the subject, by `ref`; one query where there is none, three else."""
    newest: dict[str, ApprovalRequest] = {}
    for request in ApprovalRequest.objects.filter(subject=subject).order_by("opened_at", "id"):
        newest[request.ref] = request
    if not newest:
        return {}
    keys = [request.id for request in newest.values()]
    versions: dict[UUID, list[RequestVersion]] = {}
    for version in RequestVersion.objects.filter(request__in=keys).order_by("number"):
        versions.setdefault(version.request_id, []).append(version)
    voters: dict[tuple[UUID, int], list[UUID]] = {}
    votes = Review.objects.filter(request__in=keys, decision__in=("approve", "edit")).order_by("at", "id")
    for vote in votes:
        voters.setdefault((vote.request_id, vote.version), []).append(vote.member_id)
    return {
        ref: _view(request, versions[request.id], voters.get((request.id, request.version), []))
        for ref, request in newest.items()
    }


def version_of(request: ApprovalRequest) -> RequestVersion:
    """The version of the request that stands."""
    return RequestVersion.objects.get(request=request, number=request.version)


def title_of(request: ApprovalRequest) -> str:
    """The act as a sentence, from the bound arguments of the version that stands."""
    return version_of(request).title


def digest_of(request: ApprovalRequest) -> str:
    """The digest of the arguments of the version that stands."""
    return version_of(request).digest


def _view(request: ApprovalRequest, versions: Sequence[RequestVersion], voters: Sequence[UUID]) -> RequestView:
    standing = versions[request.version - 1]
    changed = dict.fromkeys(name for version in versions for name in version.edited_fields)
    text = texts.of_decision(request.status, comment=request.comment, response=request.response)
    return RequestView(
        id=request.id,
        ref=request.ref,
        status=request.status,
        version=request.version,
        round=request.round,
        arguments=standing.arguments,
        digest=standing.digest,
        decision=request.decision,
        comment=request.comment,
        response=request.response,
        text=texts.cancelled(request.comment) if request.status == "cancelled" else text,
        edited_fields=tuple(changed),
        deadline=request.deadline,
        requirement=requirements.from_json(request.requirement),
        fingerprint=request.fingerprint,
        precondition=request.precondition,
        voters=tuple(dict.fromkeys(voters)),
    )


def _frozen(call: ProposedCall) -> dict[str, Any]:
    return {
        "tool": call.tool,
        "tool_title": call.tool_title,
        "agent": call.agent,
        "agent_version": call.agent_version,
        "risk": call.risk,
        "effect": call.effect,
        "definition": dict(call.tool_definition),
        "fingerprint": call.fingerprint,
        "proposed_arguments": call.proposed_arguments,
        "rationale": call.rationale,
        "initiators": list(call.initiators),
        "initiator": dict(call.initiator),
        "labels": dict(call.labels),
        "run": dict(call.run),
        "evidence": call.evidence,
        "evidence_error": call.evidence_error,
        "precondition": call.precondition,
    }


def _deadline(requirement: Requirement, now: datetime) -> datetime:
    zone = Tenant.objects.values_list("timezone", flat=True).get(pk=current()) if requirement.working_time else "UTC"
    return calendars.deadline(now, requirement.response_timeout, working=requirement.working_time, zone=zone)


def _write_version(
    request: ApprovalRequest,
    arguments: str,
    *,
    title: str,
    digest: str,
    member: UUID | None = None,
    fields: Sequence[str] = (),
    comment: str = "",
) -> RequestVersion:
    return RequestVersion.objects.create(
        tenant_id=current(),
        request=request,
        number=request.version,
        arguments=arguments,
        digest=digest,
        title=title,
        edited_by_id=member,
        edited_fields=list(fields),
        comment=comment,
    )


def _carry(request: ApprovalRequest, votes: Sequence[Review]) -> None:
    """Write the approvals of the superseded request as those of this one's first version."""
    Review.objects.bulk_create(
        Review(
            tenant_id=current(),
            request=request,
            member_id=vote.member_id,
            in_place_of_id=vote.in_place_of_id,
            version=request.version,
            decision="approve",
            comment=vote.comment,
            channel="carried",
            actor=vote.actor,
            at=vote.at,
        )
        for vote in {vote.member_id: vote for vote in votes}.values()
    )


def _close(
    request: ApprovalRequest,
    status: str,
    *,
    actor: Actor,
    now: datetime,
    decision: str = "",
    comment: str = "",
    response: str = "",
) -> None:
    _demand_pending(request)
    request.status, request.decision = status, decision
    request.comment, request.response = comment, response
    request.decided_at, request.decided_by = now, actor.as_json()
    request.due_at = None
    request.save(update_fields=["status", "decision", "comment", "response", "decided_at", "decided_by", "due_at"])
    asked.close(request, now=now)


def _demand_pending(request: ApprovalRequest) -> None:
    locks.demand(request.subject)
    if request.status != "pending":
        _refuse(request)


def _refuse(request: ApprovalRequest) -> NoReturn:
    raise NotPending(f"Request {request.id} is {request.status}; only a pending one changes.")


def _asked_for(request: ApprovalRequest) -> dict[str, Any]:
    return {
        "tool": request.tool,
        "risk": request.risk,
        "deadline": request.deadline.isoformat(timespec="milliseconds"),
        "supersedes": str(request.supersedes_id) if request.supersedes_id else None,
        "round": request.round,
    }


def _ended(request: ApprovalRequest, actor: Actor) -> str:
    title = title_of(request)
    if request.status == "expired":
        return f"Nobody answered in time: {title}. It was not run."
    if request.status == "approved" and actor.kind == "system":
        return f"Nobody answered in time, which the rule takes for yes: {title}"
    return (
        f"{actor.name} {request.status}: {title}"
        if request.status != "responded"
        else f"{actor.name} answered in the place of: {title}"
    )
