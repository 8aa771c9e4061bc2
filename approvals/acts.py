"""What people do around a decision: look, comment, reassign, ask the next level, answer one of many."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

from django.utils.translation import gettext as _

from approvals import access, decisions, errors, escalations, hands, ladder, requests, rule_bodies, writing
from approvals.decisions import Decided
from approvals.display import says
from approvals.hands import Hand
from approvals.models import ApprovalRequest, Asked, Reassignment, RequestComment, Review, Viewing
from approvals.reviewers import asking
from approvals.story import tell
from tenants import audit, ids
from tenants.actors import Actor
from tenants.audit_names import Action
from tenants.models import Member
from tenants.refusals import Refusal
from tenants.scope import current, scope

Result = TypeVar("Result")


@dataclass(frozen=True)
class Moment:
    """What every act has in hand: the request under its lock, and who acts."""

    hand: Hand
    actor: Actor
    member: Member

    @property
    def request(self) -> ApprovalRequest:
        return self.hand.request

    @property
    def now(self) -> datetime:
        return self.hand.now


def view(request_id: UUID, *, tenant: UUID, actor: Actor) -> None:
    """Keep that somebody has the request open and visible. The first look of each person is an event."""

    def work(at: Moment) -> None:
        row, new = Viewing.objects.get_or_create(
            request=at.request,
            member=at.member,
            defaults={"tenant_id": current(), "version": at.request.version, "since": at.now, "last": at.now},
        )
        if new and at.request.status == "pending":
            tell(at.request, "approval.viewed", actor=actor, message=f"{actor.name} opened the request")
        if not new:
            Viewing.objects.filter(pk=row.pk).update(last=at.now, version=at.request.version)

    _act(request_id, work, tenant=tenant, actor=actor, action="")


def comment(request_id: UUID, *, tenant: UUID, actor: Actor, text: str, channel: str) -> RequestComment:
    """Say something beside the question; the reviewers read it, the agent does not. Raises Refusal 404 or 422."""

    def work(at: Moment) -> RequestComment:
        said = _text(text, "text")
        made = RequestComment.objects.create(
            tenant_id=current(), request=at.request, member=at.member, actor=actor.as_json(), text=said, at=at.now
        )
        message = f"{actor.name} commented on the request"
        data = {"request": str(at.request.pk), "comment": str(made.pk), "text": said[:2000]}
        tell(at.request, "run.commented", actor=actor, message=message, data=data)
        return made

    return _act(request_id, work, tenant=tenant, actor=actor, action="approval.commented", channel=channel)


def reassign(
    request_id: UUID,
    *,
    tenant: UUID,
    actor: Actor,
    to: str,
    before: str | None = None,
    comment: str = "",
    channel: str,
) -> ApprovalRequest:
    """Let another member answer in somebody's place, who no longer may; managers only.

    Members are named by id or address; `before` may be left out where only one member is asked. Raises Refusal 403,
    404, 409 where it has ended, 422 where the new one could not answer.
    """

    def work(at: Moment) -> ApprovalRequest:
        _demand_manager(at)
        _demand_pending(at)
        old, new = _reassigned(at, to=to, before=before)
        Reassignment.objects.create(
            tenant_id=current(),
            request=at.request,
            before=old,
            after=new,
            comment=_text(comment, "comment", empty=True),
        )
        message = f"{actor.name} let {new.name} answer in the place of {old.name}"
        data = {"from": str(old.pk), "to": str(new.pk), "comment": comment}
        tell(at.request, "approval.reassigned", actor=actor, message=message, data=data)
        ladder.climb(at.request, at.hand.people, replace(at.hand.asks, moves=asking(at.request).moves))
        return at.request

    return _act(request_id, work, tenant=tenant, actor=actor, action="approval.reassigned", channel=channel)


def escalate(request_id: UUID, *, tenant: UUID, actor: Actor, channel: str) -> ApprovalRequest:
    """Ask the next level now; managers only. Raises Refusal 409 where there is none or the request has ended."""

    def work(at: Moment) -> ApprovalRequest:
        _demand_manager(at)
        _demand_pending(at)
        if at.request.rung >= len(escalations.schedule(at.hand.ask.escalation, opened_at=at.request.opened_at)):
            raise Refusal("no_next_level", detail=_("There is no further level to ask."))
        ladder.climb(at.request, at.hand.people, at.hand.asks, by_hand=actor)
        return at.request

    return _act(request_id, work, tenant=tenant, actor=actor, action="approval.escalated", channel=channel)


def decide_item(sent: Mapping[str, Any], *, tenant: UUID, actor: Actor, channel: str) -> Decided:
    """Answer one request of many; edits and answers in the tool's place are given one by one. Raises Refusal."""
    if sent.get("decision") not in ("approve", "reject", "deny"):
        message = _("Many are approved or rejected together; every other answer is given one by one.")
        raise errors.field("decision", message, code="unknown_decision")
    key = ids.parse(sent.get("id"))
    if key is None:
        raise errors.unknown()
    return decisions.decide(
        key,
        tenant=tenant,
        actor=actor,
        decision=sent["decision"],
        version=sent.get("version"),
        comment=sent.get("comment"),
        channel=channel,
    )


def _act(
    request_id: UUID,
    work: Callable[[Moment], Result],
    *,
    tenant: UUID,
    actor: Actor,
    action: Action | Literal[""],
    channel: str = "",
) -> Result:
    """Do the work under the request's lock, with its audit entry; a refusal's entry commits before it is raised."""
    with scope(tenant):
        try:
            done: Result | Refusal = work(_moment(request_id, actor))
        except Refusal as refusal:
            done = refusal
        if action:
            audit.record(
                action,
                actor=actor,
                target=f"request:{request_id}",
                detail={"code": done.code} if isinstance(done, Refusal) else {},
                refused=isinstance(done, Refusal),
                channel=channel,
            )
    if isinstance(done, Refusal):
        done.recorded = bool(action)
        raise done
    return done


def _moment(request_id: UUID, actor: Actor) -> Moment:
    member = Member.objects.select_related("person").filter(pk=actor.member).first() if actor.member else None
    found = access.readable(member).filter(pk=request_id).first() if member else None
    hand = hands.take(request_id) if found else None
    if member is None or hand is None:
        raise errors.unknown()
    return Moment(hand, actor, member)


def _demand_manager(at: Moment) -> None:
    if not at.member.has("manager"):
        raise errors.may_not(_("Only a manager does this."), "role")


def _demand_pending(at: Moment) -> None:
    if at.request.status == "pending" and at.now >= at.request.deadline:
        requests.lapse(at.request.pk)
        at.request.refresh_from_db()
    if at.request.status != "pending":
        raise errors.ended(at.request)


def _reassigned(at: Moment, *, to: str, before: str | None) -> tuple[Member, Member]:
    """The two members, checked: the first is asked and has not voted, the second may answer."""
    open_rows = list(Asked.objects.filter(request=at.request, until__isnull=True))
    if before is None and len(open_rows) != 1:
        raise errors.field("from", _("Several people are asked. Say whose place is taken."))
    old = _member("from", before) if before is not None else Member.objects.get(pk=open_rows[0].member_id)
    new = _member("to", to)
    if old.pk not in {row.member_id for row in open_rows}:
        raise errors.field("from", _("This member is not asked."))
    if Review.objects.filter(request=at.request, version=at.request.version, member=old).exists():
        raise errors.field("from", _("This member has answered already."))
    if new.pk == old.pk or not new.has("reviewer"):
        raise errors.field("to", _("Only another reviewer can answer instead."))
    if new.pk in at.request.initiators:
        raise errors.field("to", _("This member started the run and may not answer."))
    return old, new


def _member(name: str, written: str) -> Member:
    try:
        key = rule_bodies.member_id(str(written))
    except ValueError as error:
        raise errors.field(name, str(error)) from error
    return Member.objects.select_related("person").get(pk=key)


def _text(text: Any, name: str, *, empty: bool = False) -> str:
    if not isinstance(text, str) or (not empty and not says(text)):
        raise errors.field(name, _("Write something first."))
    if wrong := writing.wrong(text, limit=writing.COMMENT):
        raise errors.field(name, wrong)
    return text
