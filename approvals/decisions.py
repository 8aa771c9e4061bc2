"""decide(): one person's answer to one version, through lock, guard, review, quorum and resolution."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from approvals import arguments as bound
from approvals import calls, clock, errors, frozen, policy, requests, requirements, reviewers, rules
from approvals.models import ApprovalRequest, RequestVersion, Review
from approvals.requirements import Requirement
from approvals.reviewers import Verdict
from approvals.story import tell
from tenants import audit, exact_json, locks
from tenants.actors import Actor
from tenants.models import Tenant
from tenants.refusals import Refusal
from tenants.scope import current, scope

ANSWERS = {"approve": "approve", "edit": "edit", "reject": "reject", "deny": "reject", "respond": "respond"}
MAX_TEXT = 20_000


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
    """What came of an answer; numbers count different people for the version that stands."""

    request: ApprovalRequest
    review: Review
    approvals_given: int
    approvals_needed: int


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
    with scope(tenant):
        outcome = _decide(request_id, sent, actor=actor, channel=channel)
        _record(request_id, outcome, sent, actor=actor, channel=channel)
    if isinstance(outcome, Refusal):
        outcome.recorded = True
        raise outcome
    return outcome


def read(sent: Mapping[str, Any]) -> Answer | Refusal:
    """The answer as it may be used, or why it cannot be; nothing is guessed."""
    decision, version = sent.get("decision"), sent.get("version")
    if not isinstance(decision, str) or decision not in ANSWERS:
        return errors.field("decision", _("This is none of approve, edit, reject, respond."), code="unknown_decision")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < 2**31:
        return errors.field("version", _("The number of the version that was read is missing."))
    texts: dict[str, Any] = {name: sent.get(name) or "" for name in ("response", "comment")}
    for name, text in texts.items():
        if wrong := _wrong_text(text):
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


def _decide(request_id: UUID, sent: Mapping[str, Any], *, actor: Actor, channel: str) -> Decided | Refusal:
    subject = ApprovalRequest.objects.filter(pk=request_id).values_list("subject", flat=True).first()
    if subject is None:
        return errors.unknown()
    locks.hold(subject)
    request = ApprovalRequest.objects.get(pk=request_id)
    answer = read(sent)
    if isinstance(answer, Refusal):
        return answer
    now = clock.now()
    verdict = reviewers.may_decide(actor.member, request, now=now) if actor.member else _NOBODY
    if verdict.code in ("role", "initiator"):
        return errors.may_not(verdict.because, verdict.code)
    if request.status == "pending" and now >= request.deadline:
        requests.lapse(request, now=now)
    if request.status != "pending":
        return errors.ended(request)
    if not verdict.allowed or actor.member is None:
        return errors.may_not(verdict.because, verdict.code)
    return _refusal(request, answer, actor) or _answer(request, answer, verdict, actor=actor, channel=channel, now=now)


_NOBODY = Verdict(False, "role", _("A service key cannot answer for a person."))


def _refusal(request: ApprovalRequest, answer: Answer, actor: Actor) -> Refusal | None:
    """Why this answer to this request cannot be taken now, checked before anything is written."""
    if answer.version != request.version:
        return errors.changed(request)
    given = Review.objects.filter(request=request, version=request.version, member=actor.member)
    before = set(given.values_list("decision", flat=True))
    if before and answer.decision != "reject":
        return errors.answered(request)
    need = requirements.from_json(request.requirement)
    if answer.decision not in need.answers:
        return errors.field("decision", _("The rule does not allow this answer here."), code="answer_not_allowed")
    if answer.decision == "reject" and need.reason_required and not answer.comment.strip():
        message = _("Write a reason. The agent needs it to do better.")
        return errors.field("comment", message, code="reason_required")
    if answer.decision == "respond" and not answer.response.strip():
        return errors.field("response", _("Write the answer that the agent takes as the result."))
    if request.risk == "critical" and not answer.fresh_factor and _wants_factor():
        detail = _("A critical request is answered on the page, with a one-time code.")
        refusal = Refusal("second_factor_required", status=403, detail=detail)
        refusal.challenge = True
        return refusal
    return None


def _answer(
    request: ApprovalRequest, answer: Answer, verdict: Verdict, *, actor: Actor, channel: str, now: datetime
) -> Decided | Refusal:
    if answer.decision == "edit":
        refusal = _edit(request, answer, actor=actor, now=now)
        if refusal:
            return refusal
    review = _write(request, answer, verdict, actor=actor, channel=channel, now=now)
    end = {"reject": "rejected", "respond": "responded"}.get(answer.decision)
    if end:
        requests.resolve(
            request,
            end,
            actor=actor,
            now=now,
            decision=answer.decision,
            comment=answer.comment,
            response=answer.response,
        )
    else:
        people = reviewers.roster(now=now)
        requests.settle(request, people=people, actor=actor, now=now, comment=answer.comment)
    given, needed = progress(request, now=now)
    return Decided(request, review, given, needed)


def progress(request: ApprovalRequest, *, now: datetime) -> tuple[int, int]:
    """How many approvals count for the version that stands, and how many are needed in all."""
    votes = [vote.voter for vote in reviewers.standing_votes(request, now=now)]
    return requirements.progress(requirements.from_json(request.requirement), votes)


def _edit(request: ApprovalRequest, answer: Answer, *, actor: Actor, now: datetime) -> Refusal | None:
    """Make the next version from the edited arguments, under the stricter of the old and the new rules."""
    text, wrong = bound.edited(answer.arguments, request.definition)
    if wrong:
        return errors.fields(wrong, code="invalid_arguments")
    version = requests.version_of(request)
    changed = bound.changed_fields(version.arguments, text)
    if not changed:
        return errors.field(
            "arguments", _("Nothing was changed. To agree as it is, choose Approve."), code="nothing_changed"
        )
    call = _edited_call(request, text)
    new = policy.evaluate(call, rules.load(), now=now)
    if new.outcome == "deny":
        return errors.field("arguments", _("The rules refuse this call with these values."), code="rules_deny")
    requests.edit(
        request,
        arguments=text,
        fields=changed,
        title=call.summary,
        digest=call.digest,
        requirement=_stricter(request, new),
        member=_member(actor),
        actor=actor,
        comment=answer.comment,
        now=now,
    )
    return None


def _edited_call(request: ApprovalRequest, text: str) -> calls.ProposedCall:
    call = frozen.call_of(request, RequestVersion(arguments=text, digest="", title=""))
    digest = calls.digest(text, sensitive=call.sensitive)
    template = str(request.definition.get("summary") or "")
    values = dict(exact_json.loads(text))
    title = calls.sentence(template, values, sensitive=call.sensitive) if template else requests.title_of(request)
    return replace(call, digest=digest, summary=title)


def _stricter(request: ApprovalRequest, new: Requirement) -> Requirement:
    return requirements.from_json(request.requirement).join(new)


def _write(
    request: ApprovalRequest, answer: Answer, verdict: Verdict, *, actor: Actor, channel: str, now: datetime
) -> Review:
    review = Review.objects.create(
        tenant_id=current(),
        request=request,
        member_id=_member(actor),
        in_place_of_id=verdict.in_place_of,
        version=request.version,
        decision=answer.decision,
        comment=answer.comment,
        response=answer.response,
        channel=channel,
        actor=actor.as_json(),
        at=now,
    )
    data = {"decision": answer.decision, "version": request.version, "comment": answer.comment}
    verb = {"approve": "approved", "edit": "edited and approved", "reject": "rejected", "respond": "answered"}
    message = f"{actor.name} {verb[answer.decision]} version {request.version}"
    tell(request, "approval.reviewed", actor=actor, message=message, data=data)
    return review


def _record(
    request_id: UUID, outcome: Decided | Refusal, sent: Mapping[str, Any], *, actor: Actor, channel: str
) -> None:
    detail: dict[str, Any] = {"decision": _short(sent["decision"]), "version": _short(sent["version"])}
    if isinstance(outcome, Refusal):
        detail |= {"code": outcome.code, "status": outcome.status}
    else:
        detail = {
            "decision": outcome.review.decision,
            "version": outcome.review.version,
            "digest": requests.digest_of(outcome.request),
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
    )


def _wrong_text(text: Any) -> str:
    if not isinstance(text, str):
        return _("This is text.")
    if len(text) > MAX_TEXT:
        return _("This is too long: at most %(limit)s characters.") % {"limit": MAX_TEXT}
    try:
        exact_json.check_text(text)
    except exact_json.BadJson as error:
        return str(error)
    return ""


def _wants_factor() -> bool:
    return Tenant.objects.values_list("second_factor", flat=True).get(pk=current())


def _member(actor: Actor) -> UUID:
    if actor.member is None:
        raise ValueError("Only a person or a personal key answers.")
    return actor.member


def _short(value: Any) -> str | int | None:
    return value if isinstance(value, int) or value is None else str(value)[:40]
