"""The only writer of request state: open, edit, resolve, cancel, supersede. All need a scope and the subject's lock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS

from approvals import calendars, checks, clock, hands, ladder, precedents, states, texts, wordings, working_hours
from approvals.calls import ProposedCall
from approvals.errors import NotPending
from approvals.hands import Hand
from approvals.latest import Look, RequestView, latest, look
from approvals.models import ApprovalRequest, RequestVersion, Review
from approvals.notifications import outbox
from approvals.requirements import Requirement
from approvals.signals import Story, Told, request_resolved
from approvals.story import facts, ring, tell
from tenants import events, exact_json, ids, locks, prepared
from tenants.actors import SYSTEM, Actor
from tenants.scope import current

__all__ = [
    "Look",
    "RequestView",
    "answer",
    "cancel_open",
    "edit",
    "lapse",
    "latest",
    "look",
    "open",
    "settle",
    "supersede",
]

EXPIRED = "Nobody answered in time: {title}. It was not run."
AGREED = "Nobody answered in time, which the rule takes for yes: {title}"
_LAPSE = prepared.statement("request_lapse", "uuid uuid jsonb text text")
_END = prepared.expression("request_end", "uuid uuid text text text text jsonb timestamptz text text jsonb")
_ANSWER = prepared.expression(
    "request_answer",
    "uuid uuid text uuid uuid uuid integer text text text text jsonb timestamptz text jsonb"
    " text text text text text text jsonb",
)


@dataclass(frozen=True)
class Edit:
    """An edit that has been found good: what the next version holds and who made it."""

    call: ProposedCall
    fields: Sequence[str]
    requirement: Requirement
    member: UUID
    comment: str


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
        supersedes=supersedes,
        difference=difference,
        opened_at=now,
        deadline=_deadline(requirement, now),
        **_frozen(call),
    )
    wordings.word(request, call, requirement)
    request.precedents = precedents.past(call)
    request.flags = checks.flags(call.arguments, request)
    # The row itself is written by `climb`, with when to look again: once, and not as two versions of a wide row.
    version = _write_version(request, call)
    message = f"Asked for approval: {call.summary}"
    tell(request, "approval.requested", actor=actor, message=message, data=_asked_for(request))
    hand = hands.opened(request, version, _carry(request, carried_votes))
    ladder.climb(request, hand.people, hand.asks, new=True)
    if requirement.errors:
        outbox.tell_admins(request, outbox.UNREADABLE)
    if carried_votes:
        settle(hand, actor=actor)
    return request


def edit(hand: Hand, change: Edit, *, actor: Actor) -> Hand:
    """Make the next version; votes for the earlier ones lapse, deadline and level stay."""
    request = _pending(hand)
    request.version += 1
    request.flags = checks.flags(change.call.arguments, request)
    request.save(update_fields=["version", "flags", *wordings.demand(request, change.requirement)])
    version = _write_version(request, change.call, change)
    data = {"version": request.version, "fields": list(change.fields)}
    message = f"{actor.name} edited {', '.join(change.fields)}"
    tell(request, "approval.edited", actor=actor, message=message, data=data)
    lapsed = [
        vote.review.member_id for vote in hand.votes_for(request.version - 1) if vote.review.member_id != change.member
    ]
    after = hand.with_version(version)
    outbox.tell(request, outbox.LAPSED, lapsed, mark=str(request.version))
    ladder.climb(request, after.people, after.asks)
    return after


def settle(hand: Hand, *, actor: Actor) -> None:
    """End the request as approved if the votes for its version suffice, and tell the floor above."""
    if hand.missing == 0:
        request = _pending(hand)
        request.decision = _agreed(request)
        message, data = _ending(hand, "approved", actor)
        _close(request, "approved", actor=actor, now=hand.now, message=message, data=data)
        _tell_above(request, actor=actor)


def answer(hand: Hand, review: Review, *, actor: Actor, message: str) -> Hand:
    """Keep one person's answer with its event, in the words of `message`; the hand after it.

    An answer that ends the request does so in the same statement: asking ends, and the floor above is told in this
    transaction.
    """
    request = _pending(hand)
    hand = hand.with_review(review)
    said = {"decision": review.decision, "version": review.version, "comment": review.comment}
    reviewed = ("approval.reviewed", message, facts(request, said))
    given = _given(request, review, actor)
    status = _ENDS.get(review.decision) or ("approved" if hand.missing == 0 else None)
    if status == "approved":
        end, ended = _ended(hand, status, review, actor)
        prepared.later(_ANSWER, (*given, None, None, *end, None, None, None))
        _tell_above(request, actor=actor, story=Story((reviewed, ended), lambda seq: ring(request, seq)))
        return hand
    what: tuple[str | None, ...] = (None,) * 7
    if status:
        end, ended = _ended(hand, status, review, actor)
        what = (*end, *_worded(ended))
    prepared.later(_ANSWER, (*given, *_worded(reviewed)[1:], *what), lambda row: ring(request, row[0]))
    if status:
        _tell_above(request, actor=actor)
    return hand


_ENDS = {"reject": "rejected", "respond": "responded"}


def _given(request: ApprovalRequest, review: Review, actor: Actor) -> tuple[prepared.Value, ...]:
    """The review as `request_answer` takes it."""
    key = [str(each) for each in (request.tenant_id, request.pk, request.subject, review.pk, review.member_id)]
    words = (str(review.version), review.decision, review.comment, review.response, review.channel)
    who = exact_json.dumps(actor.packed())
    return (*key, prepared.text(review.in_place_of_id), *words, who, review.at.isoformat())


def _worded(told: Told) -> tuple[str, str, str]:
    name, message, data = told
    return name, message, exact_json.dumps(data)


def _ended(hand: Hand, status: str, review: Review, actor: Actor) -> tuple[tuple[str, ...], Told]:
    """The end of the request as `request_answer` takes it, and its event; the row in hand is as it will be then."""
    request = hand.request
    request.decision, request.comment = review.decision, review.comment
    if status == "approved":
        request.decision = _agreed(request)
    else:
        request.response = review.response
    message, data = _ending(hand, status, actor)
    _mark(request, status, actor=actor, now=hand.now)
    words = (status, request.decision, request.comment, request.response)
    return words, (states.EVENTS[status], message, facts(request, data))


def _agreed(request: ApprovalRequest) -> str:
    return "edit" if request.version > 1 else "approve"


def _ending(hand: Hand, status: str, actor: Actor) -> tuple[str, dict[str, Any]]:
    """What the event of an end by a person says."""
    request, version = hand.request, hand.version
    verb = "answered in the place of" if status == "responded" else status
    data = {"decision": request.decision, "comment": request.comment}
    return f"{actor.name} {verb}: {version.title}", data | {"version": request.version, "digest": version.digest}


def lapse(request_id: UUID) -> str:
    """If the deadline has come, silence ends the request as its rules say, and never as a person's answer.

    Takes the subject's lock and keeps it. The state that stands after it, `early` before the deadline, `unknown`.
    """
    key = (str(current()), str(request_id))
    values = (*key, exact_json.dumps(SYSTEM.packed()), EXPIRED, AGREED)
    code, subject, ref, initiators, fail_run, seq = prepared.one(_LAPSE, values)
    if subject is not None:
        locks.held(subject)
    if seq is not None:
        names = ["id", "tenant_id", "subject", "ref", "status", "initiators", "comment", "response"]
        row = [request_id, current(), subject, ref, code, initiators, "", ""]
        request = ApprovalRequest.from_db(DEFAULT_DB_ALIAS, names, row)
        ring(request, seq)
        _tell_above(request, actor=SYSTEM, fail_run=fail_run)
    return str(code)


def _tell_above(request: ApprovalRequest, *, actor: Actor, fail_run: bool = False, story: Story | None = None) -> None:
    """Whoever started it is told, and the floor above hears it in the transaction that ended it."""
    outbox.tell(request, outbox.ENDED, (UUID(str(each)) for each in request.initiators))
    answers = request_resolved.send(
        sender=ApprovalRequest,
        request=request,
        subject=request.subject,
        ref=request.ref,
        status=request.status,
        text=texts.of_decision(request.status, comment=request.comment, response=request.response),
        actor=actor,
        fail_run=fail_run,
        story=story,
    )
    if story and not any(taken for _receiver, taken in answers):
        for name, message, data in story.told:
            events.put(request.subject, name, actor=actor, message=message, data=data, then=story.then)


def cancel_open(subject: str, *, actor: Actor, because: str) -> list[UUID]:
    """Close every pending request of the subject, as when its run ends; the caller already knows, so no signal."""
    locks.demand(subject)
    pending = list(ApprovalRequest.objects.filter(subject=subject, status="pending").order_by("opened_at", "id"))
    for request in pending:
        request.comment = because
        title = RequestVersion.objects.get(request=request, number=request.version).title
        message = f"Closed: {title} ({because})"
        _close(request, "cancelled", actor=actor, now=clock.now(), message=message, data={"because": because})
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
    key = ids.new()
    votes = Review.objects.filter(request=old, version=old.version, decision__in=("approve", "edit"))
    carried = list(votes.order_by("at", "id")) if keep_votes else []
    because = str((difference or {}).get("because", ""))
    _replace(old, actor=actor, message=f"Asked again: {because}", data={"by": str(key), "because": because})
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


def _frozen(call: ProposedCall) -> dict[str, Any]:
    return {
        "tool": call.tool,
        "tool_title": call.tool_title,
        "agent": call.agent,
        "agent_version": call.agent_version,
        "risk": call.risk,
        "effect": call.effect,
        "proposed_arguments": call.proposed_arguments,
        "rationale": call.rationale,
        "initiators": list(call.initiators),
        "initiator": dict(call.initiator),
        "labels": dict(call.labels),
        "evidence": call.evidence,
        "evidence_error": call.evidence_error,
        "precondition": call.precondition,
    }


def _deadline(requirement: Requirement, now: datetime) -> datetime:
    if not requirement.working_time:
        return calendars.deadline(now, requirement.response_timeout)
    every = working_hours.calendars_of(requirement.calendars or (None,))
    return min(calendars.deadline(now, requirement.response_timeout, each) for each in every)


def _write_version(request: ApprovalRequest, call: ProposedCall, change: Edit | None = None) -> RequestVersion:
    return RequestVersion.objects.create(
        tenant_id=current(),
        request=request,
        number=request.version,
        arguments=call.arguments,
        digest=call.digest,
        title=call.summary,
        edited_by_id=change.member if change else None,
        edited_fields=list(change.fields) if change else [],
        comment=change.comment if change else "",
    )


def _carry(request: ApprovalRequest, votes: Sequence[Review]) -> list[Review]:
    """Write the approvals of the superseded request as those of this one's first version."""
    rows = [
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
    ]
    return Review.objects.bulk_create(rows) if rows else []


def _close(
    request: ApprovalRequest, status: str, *, actor: Actor, now: datetime, message: str, data: Mapping[str, Any]
) -> None:
    """The end of a pending request, of all asking, and its event: one statement."""
    _mark(request, status, actor=actor, now=now)
    words = (request.decision, request.comment, request.response)
    who, what = exact_json.dumps(actor.packed()), exact_json.dumps(facts(request, data))
    key = (str(request.tenant_id), str(request.pk))
    values = (*key, status, *words, who, now.isoformat(), states.EVENTS[status], message, what)
    prepared.later(_END, values, lambda row: ring(request, row[0]))


def _mark(request: ApprovalRequest, status: str, *, actor: Actor, now: datetime) -> None:
    """The row in hand as its end makes it."""
    request.status, request.due_at = status, None
    request.decided_at, request.decided_by = now, actor.as_json()


def _replace(old: ApprovalRequest, *, actor: Actor, message: str, data: Mapping[str, Any]) -> None:
    """The old one's end; an approval keeps the time and the people it was given by."""
    if old.status == "pending":
        _close(old, "superseded", actor=actor, now=clock.now(), message=message, data=data)
    else:
        old.status = "superseded"
        old.save(update_fields=["status"])
        tell(old, "approval.superseded", actor=actor, message=message, data=data)


def _pending(hand: Hand) -> ApprovalRequest:
    request = hand.request
    locks.demand(request.subject)
    if request.status != "pending":
        raise NotPending(f"Request {request.id} is {request.status}; only a pending one changes.")
    return request


def _asked_for(request: ApprovalRequest) -> dict[str, Any]:
    return {
        "tool": request.tool,
        "risk": request.risk,
        "deadline": request.deadline.isoformat(timespec="milliseconds"),
        "supersedes": str(request.supersedes_id) if request.supersedes_id else None,
        "round": request.round,
    }
