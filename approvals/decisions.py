"""decide(): one person's answer to one version, through lock, guard, review, quorum and resolution."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals import access, edits, errors, hands, requests, reviewers, writing
from approvals.display import says
from approvals.hands import Hand
from approvals.models import ApprovalRequest, Review
from approvals.reviewers import Verdict
from tenants import audit, ids, rows
from tenants.actors import Actor
from tenants.models import Member
from tenants.refusals import Refusal
from tenants.scope import scope

ANSWERS = {"approve": "approve", "edit": "edit", "reject": "reject", "deny": "reject", "respond": "respond"}


@dataclass(frozen=True)
class Answer:
    """One answer as it came in: the verb, the version it is about, and what goes with the verb."""

    decision: str
    version: int
    arguments: Any = None
    response: str = ""
    comment: str = ""
    fresh_factor: bool = False


@dataclass(frozen=True)
class Decided:
    """What came of an answer: the request after it, and the review that was written."""

    hand: Hand
    review: Review

    @property
    def request(self) -> ApprovalRequest:
        return self.hand.request

    @property
    def approvals_given(self) -> int:
        """How many different people's approvals count for the version that stands."""
        return self.hand.progress[0]

    @property
    def approvals_needed(self) -> int:
        """How many are needed in all."""
        return self.hand.progress[1]


def decide(
    request_id: UUID,
    *,
    tenant: UUID,
    actor: Actor,
    decision: Any,
    version: Any,
    channel: str,
    arguments: Any = None,
    response: Any = None,
    comment: Any = "",
    fresh_factor: bool = False,
) -> Decided:
    """Give one person's answer; opens its own scope and takes the subject's lock.

    `fresh_factor` says that the person proved a second factor just now. Raises Refusal: 422 for what cannot be
    read or used, 404 for an unknown id, 403 where the guard says no, 409 where another state stands. A refused
    answer has its audit entry committed before it is raised.
    """
    sent = {"decision": decision, "version": version, "arguments": arguments}
    sent |= {"response": response, "comment": comment, "fresh_factor": fresh_factor}
    try:
        outcome = _decided(request_id, sent, tenant=tenant, actor=actor, channel=channel)
    except DatabaseError as error:
        if not audit.has_gone_on(error):
            raise
        # Another entry of this tenant came between: nothing was kept, and now the chain is locked before it is read.
        outcome = _decided(request_id, sent, tenant=tenant, actor=actor, channel=channel, ahead=False)
    if isinstance(outcome, Refusal):
        outcome.recorded = True
        raise outcome
    return outcome


def read(sent: Mapping[str, Any]) -> Answer | Refusal:
    """The answer as it may be used, or why it cannot be; nothing is guessed."""
    decision, version = sent.get("decision"), sent.get("version")
    if decision is None:
        return errors.field(
            "decision", _("This is missing. One of approve, edit, reject, respond is wanted."), code="unknown_decision"
        )
    if not isinstance(decision, str) or decision not in ANSWERS:
        return errors.field("decision", _("This is none of approve, edit, reject, respond."), code="unknown_decision")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < 2**31:
        return errors.field("version", _("The number of the version that was read is missing."))
    texts: dict[str, Any] = {name: sent.get(name) or "" for name in ("response", "comment")}
    for name, text in texts.items():
        if wrong := writing.wrong(text, limit=writing.ANSWER):
            return errors.field(name, wrong)
    if sent.get("arguments") is not None and decision != "edit":
        return errors.field("arguments", _("Arguments go with an edit alone."))
    return Answer(
        ANSWERS[decision],
        version,
        arguments=sent.get("arguments"),
        fresh_factor=sent.get("fresh_factor") is True,
        **texts,
    )


def _decided(
    request_id: UUID, sent: Mapping[str, Any], *, tenant: UUID, actor: Actor, channel: str, ahead: bool = True
) -> Decided | Refusal:
    """One transaction: what came of the answer, and its audit entry; `ahead` after the head that was read at first."""
    with scope(tenant):
        hand = hands.take(request_id)
        outcome = _decide(hand, sent, actor=actor, channel=channel)
        after = hand.head if hand and ahead else None
        _record(request_id, outcome, sent, actor=actor, channel=channel, after=after)
    return outcome


def _decide(hand: Hand | None, sent: Mapping[str, Any], *, actor: Actor, channel: str) -> Decided | Refusal:
    if hand is None or _is_hidden(hand, actor):
        return errors.unknown()
    answer = read(sent)
    if isinstance(answer, Refusal):
        return answer
    verdict = reviewers.judge(hand.people, hand.ask, actor.member) if actor.member else _NOBODY
    if verdict.code in ("role", "initiator"):
        return errors.may_not(verdict.because, verdict.code)
    if hand.request.status == "pending" and hand.now >= hand.request.deadline:
        requests.lapse(hand.request.pk)
        hand.request.refresh_from_db()
    if hand.request.status != "pending":
        return errors.ended(hand.request)
    if not verdict.allowed:
        return errors.may_not(verdict.because, verdict.code)
    return _refusal(hand, answer, actor) or _answer(hand, answer, verdict, actor=actor, channel=channel)


def _is_hidden(hand: Hand, actor: Actor) -> bool:
    """Whether it is of a restricted agent and this member may not read it: then it is as unknown as any other."""
    holders = hand.people.restricted.get(hand.ask.agent)
    someone = hand.people.people.get(actor.member) if actor.member else None
    if holders is None or someone is None or someone.person in holders:
        return False
    member = Member.objects.get(pk=someone.id)
    return not access.readable(member).filter(pk=hand.request.pk).exists()


_NOBODY = Verdict(False, "role", gettext_lazy("A service key cannot answer for a person."))


def _refusal(hand: Hand, answer: Answer, actor: Actor) -> Refusal | None:
    """Why this answer to this request cannot be taken now, checked before anything is written."""
    request, need = hand.request, hand.need
    if answer.version != request.version:
        return errors.changed(request)
    if answer.decision != "reject" and any(review.member_id == actor.member for review in hand.answers):
        return errors.answered(request)
    if answer.decision not in need.answers:
        return errors.field("decision", _("The rule does not allow this answer here."), code="answer_not_allowed")
    if answer.decision == "reject" and need.reason_required and not says(answer.comment):
        message = _("Write a reason. The agent needs it to do better.")
        return errors.field("comment", message, code="reason_required")
    if answer.decision == "respond" and not says(answer.response):
        return errors.field("response", _("Write the answer that the agent takes as the result."))
    wants_factor = request.risk == "critical" and hand.people.second_factor
    return errors.wants_factor() if wants_factor and not answer.fresh_factor else None


def _answer(hand: Hand, answer: Answer, verdict: Verdict, *, actor: Actor, channel: str) -> Decided | Refusal:
    if answer.decision == "edit":
        change = _edit(hand, answer, actor)
        if isinstance(change, Refusal):
            return change
        hand = requests.edit(hand, change, actor=actor)
    review = _review(hand, answer, verdict, actor=actor, channel=channel)
    message = f"{actor.name} {_VERBS[answer.decision]} version {review.version}"
    return Decided(requests.answer(hand, review, actor=actor, message=message), review)


def _edit(hand: Hand, answer: Answer, actor: Actor) -> requests.Edit | Refusal:
    found = edits.proposed(hand.request, hand.version, hand.need, answer.arguments, now=hand.now)
    if isinstance(found, Refusal):
        return found
    return requests.Edit(
        call=found.call,
        fields=found.fields,
        requirement=found.requirement,
        member=_member(actor),
        comment=answer.comment,
    )


_VERBS = {"approve": "approved", "edit": "edited and approved", "reject": "rejected", "respond": "answered"}


def _review(hand: Hand, answer: Answer, verdict: Verdict, *, actor: Actor, channel: str) -> Review:
    return rows.new(
        Review,
        id=ids.new(),
        tenant_id=hand.request.tenant_id,
        request_id=hand.request.pk,
        member_id=_member(actor),
        in_place_of_id=verdict.in_place_of,
        version=hand.request.version,
        decision=answer.decision,
        comment=answer.comment,
        response=answer.response,
        channel=channel,
        actor=actor.as_json(),
        at=hand.now,
    )


def _record(
    request_id: UUID,
    outcome: Decided | Refusal,
    sent: Mapping[str, Any],
    *,
    actor: Actor,
    channel: str,
    after: audit.Head | None,
) -> None:
    detail: dict[str, Any] = {"decision": _short(sent["decision"]), "version": _short(sent["version"])}
    if isinstance(outcome, Refusal):
        detail |= {"code": outcome.code, "status": outcome.status}
    else:
        detail = {
            "decision": outcome.review.decision,
            "version": outcome.review.version,
            "digest": outcome.hand.version.digest,
            "comment": outcome.review.comment,
            "request_status": outcome.request.status,
            "in_place_of": str(outcome.review.in_place_of_id) if outcome.review.in_place_of_id else None,
            "initiator": _member(actor) in outcome.request.initiators,
        }
    audit.record(
        "approval.decided",
        actor=actor,
        target=f"request:{request_id}",
        detail=detail,
        refused=isinstance(outcome, Refusal),
        channel=channel,
        after=after,
    )


def _member(actor: Actor) -> UUID:
    if actor.member is None:
        raise ValueError("Only a person or a personal key answers.")
    return actor.member


def _short(value: Any) -> str | int | None:
    return value if isinstance(value, int) or value is None else str(value)[:40]
