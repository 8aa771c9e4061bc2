"""The API of escalation policies and of delegations."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from ninja import Router, Schema, Status
from pydantic import ConfigDict, Field

from approvals import absences, clock, errors, escalation_policies, rule_bodies
from approvals.api.moments import moment
from approvals.models import Delegation, EscalationPolicy, Rotation
from tenants.bearer import demand
from tenants.models import Group, Member
from tenants.requests import KeyRequest
from tenants.scope import scope

router = Router(tags=["escalation"])
Shape = dict[str, Any]


class EscalationBody(Schema):
    """Levels in their order, and how often the whole list is gone through again."""

    model_config = ConfigDict(extra="forbid")

    name: Any = None
    levels: Any = None
    repeats: Any = None
    working_time: Any = None
    calendar: Any = None


class DelegationBody(Schema):
    """Who stands in, from when until when; `member` is for admins, who may name somebody else."""

    model_config = ConfigDict(extra="forbid")

    to: str
    until: str
    starts: str | None = Field(None, alias="from")
    member: str | None = None


@router.get("/escalation-policies", summary="List the escalation policies")
def list_policies(request: KeyRequest) -> Shape:
    """All escalation policies by name, each with its levels."""
    demand(request, "settings:read")
    rows = EscalationPolicy.objects.filter(archived_at__isnull=True).order_by("name", "id")
    return {"items": [_policy(row) for row in rows], "next": None}


@router.post("/escalation-policies", response={201: Any}, summary="Make an escalation policy")
def create_policy(request: KeyRequest, body: EscalationBody) -> Status[Any]:
    """`levels[i]` is level i+1; level 0 is the rule's own people."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        row = escalation_policies.create(actor=bearer.actor, channel="api", **body.model_dump())
        return Status(201, _policy(row))


@router.get("/escalation-policies/{uuid:policy_id}", summary="Read an escalation policy")
def read_policy(request: KeyRequest, policy_id: UUID) -> Shape:
    """Its levels: after how long each is asked, and who that is."""
    demand(request, "settings:read")
    return _policy(escalation_policies.found(policy_id))


@router.patch("/escalation-policies/{uuid:policy_id}", summary="Change an escalation policy")
def change_policy(request: KeyRequest, policy_id: UUID, body: EscalationBody) -> Shape:
    """Requests that wait follow the change."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        changes = body.model_dump(exclude_unset=True)
        return _policy(escalation_policies.change(policy_id, actor=bearer.actor, changes=changes, channel="api"))


@router.delete("/escalation-policies/{uuid:policy_id}", response={204: None}, summary="Archive one")
def archive_policy(request: KeyRequest, policy_id: UUID) -> Status[None]:
    """No new rule may name it; what began with it keeps its levels."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        escalation_policies.archive(policy_id, actor=bearer.actor, channel="api")
    return Status(204, None)


@router.get("/delegations", summary="List delegations")
def list_delegations(request: KeyRequest) -> Shape:
    """Those that have not ended: yours and where you stand in; all of them for managers and admins."""
    bearer = demand(request, "approvals:read")
    rows = Delegation.objects.filter(withdrawn_at__isnull=True, ends__gt=clock.now())
    if not bearer.member.has("manager", "admin"):
        rows = rows.filter(member=bearer.member) | rows.filter(stand_in=bearer.member)
    return {"items": [_delegation(row) for row in rows.order_by("starts", "id")], "next": None}


@router.post("/delegations", response={201: Any}, summary="Let somebody stand in")
def delegate(request: KeyRequest, body: DelegationBody) -> Status[Any]:
    """For yourself; an admin may name another member. What waits already moves too."""
    bearer = demand(request, "approvals:decide")
    starts = moment("from", body.starts) if body.starts else None
    ends = moment("until", body.until)
    with scope(bearer.tenant):
        row = absences.delegate(
            actor=bearer.actor,
            member=_absent(bearer.member, body.member),
            to=_member("to", body.to),
            starts=starts,
            ends=ends,
            channel="api",
        )
        return Status(201, _delegation(row))


@router.delete("/delegations/{uuid:delegation_id}", response={204: None}, summary="End a delegation now")
def withdraw(request: KeyRequest, delegation_id: UUID) -> Status[None]:
    """Votes that were given under it stay."""
    bearer = demand(request, "approvals:decide")
    with scope(bearer.tenant):
        absences.withdraw(delegation_id, actor=bearer.actor, by=bearer.member, channel="api")
    return Status(204, None)


def _absent(caller: Member, named: str | None) -> Member:
    if named is None:
        return caller
    found = _member("member", named)
    if found.pk != caller.pk and not caller.has("admin"):
        raise errors.may_not(_("Only an admin lets somebody stand in for another member."), "role")
    return found


def _member(field: str, named: str) -> Member:
    try:
        key = rule_bodies.member_id(named)
    except ValueError as error:
        raise errors.field(field, str(error)) from error
    return Member.objects.select_related("person").get(pk=key)


def _policy(row: EscalationPolicy) -> Shape:
    names = {str(key): name for key, name in Group.objects.values_list("id", "name")}
    turns = {str(key): name for key, name in Rotation.objects.values_list("id", "name")}
    levels = [
        {
            **level,
            "groups": [{"id": each, "name": names.get(each, "–")} for each in level["groups"]],
            "rotations": [{"id": each, "name": turns.get(each, "–")} for each in level.get("rotations", ())],
        }
        for level in row.levels
    ]
    return {**escalation_policies.written(row), "id": row.pk, "levels": levels, "created_at": row.created_at}


def _delegation(row: Delegation) -> Shape:
    return {"id": row.pk, "member": row.member_id, "to": row.stand_in_id, "from": row.starts, "until": row.ends}
