"""The API of being on call: rotations, exceptions to them, and who has the turns to come."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from ninja import Router, Schema, Status
from pydantic import ConfigDict, Field

from approvals import errors, rotas, rotations, rule_bodies
from approvals.api.moments import moment
from approvals.models import Rotation, RotationOverride
from approvals.rosters import Roster, roster
from approvals.rotas import Turn
from tenants.bearer import demand
from tenants.models import Member
from tenants.requests import KeyRequest
from tenants.scope import scope

router = Router(tags=["on call"])
Shape = dict[str, Any]
MAX_DAYS = 92


class RotationBody(Schema):
    """Who has the turns, in their order, and when hands change."""

    model_config = ConfigDict(extra="forbid")

    name: Any = None
    zone: Any = None
    every: Any = None
    handover: Any = None
    first_day: Any = None
    members: Any = None


class OverrideBody(Schema):
    """Who is on call instead, from when until when; without `from`, from now."""

    model_config = ConfigDict(extra="forbid")

    member: str
    until: str
    starts: str | None = Field(None, alias="from")


@router.get("/rotations", summary="List the rotations")
def list_rotations(request: KeyRequest) -> Shape:
    """All of them by name, each with who is on call now."""
    demand(request, "settings:read")
    people = roster()
    rows = Rotation.objects.filter(archived_at__isnull=True).order_by("name", "id")
    return {"items": [_shape(row, people) for row in rows.prefetch_related("places")], "next": None}


@router.post("/rotations", response={201: Any}, summary="Make a rotation")
def create(request: KeyRequest, body: RotationBody) -> Status[Any]:
    """The first of `members` begins on `first_day` at `handover` in `zone`; before that `on_call` is null."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        row = rotations.create(actor=bearer.actor, channel="api", **body.model_dump(exclude_unset=True))
        return Status(201, _shape(row, roster()))


@router.get("/rotations/{uuid:rotation_id}", summary="Read a rotation")
def read(request: KeyRequest, rotation_id: UUID) -> Shape:
    """One rotation with its overrides that have not ended."""
    demand(request, "settings:read")
    row, people = rotations.found(rotation_id), roster()
    made = [_override(each, people) for each in rotations.open_overrides(row)]
    return {**_shape(row, people), "overrides": made}


@router.patch("/rotations/{uuid:rotation_id}", summary="Change a rotation")
def change(request: KeyRequest, rotation_id: UUID, body: RotationBody) -> Shape:
    """What waits is asked of whoever is on call by it now."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        changes = body.model_dump(exclude_unset=True)
        row = rotations.change(rotation_id, actor=bearer.actor, changes=changes, channel="api")
        return _shape(row, roster())


@router.delete("/rotations/{uuid:rotation_id}", response={204: None}, summary="Archive a rotation")
def archive(request: KeyRequest, rotation_id: UUID) -> Status[None]:
    """Not while an escalation policy asks it."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        rotations.archive(rotation_id, actor=bearer.actor, channel="api")
    return Status(204, None)


@router.get("/rotations/{uuid:rotation_id}/turns", summary="Read the turns to come")
def turns(request: KeyRequest, rotation_id: UUID, days: int = 14) -> Shape:
    """Who is on call from now on for so many days, at most 92, and who was passed over; before the first day nobody."""
    demand(request, "settings:read")
    if not 1 <= days <= MAX_DAYS:
        words = _("A whole number from %(lowest)s to %(highest)s is wanted.")
        raise errors.field("days", words % {"lowest": 1, "highest": MAX_DAYS})
    row, people = rotations.found(rotation_id), roster()
    rota = people.rotations[str(row.pk)].rota
    found = rotas.turns(rota, people.now, people.now + timedelta(days=days), people.reviewers)
    return {"items": [_turn(each, people) for each in found], "next": None}


@router.post("/rotations/{uuid:rotation_id}/overrides", response={201: Any}, summary="Put somebody else on call")
def override(request: KeyRequest, rotation_id: UUID, body: OverrideBody) -> Status[Any]:
    """Whoever's turn it is; managers may too."""
    bearer = demand(request, "settings:write", "admin", "manager")
    starts = moment("from", body.starts) if body.starts else None
    ends = moment("until", body.until)
    with scope(bearer.tenant):
        rotations.found(rotation_id)
        made = rotations.override(
            rotation_id, actor=bearer.actor, member=_member(body.member), starts=starts, ends=ends, channel="api"
        )
        return Status(201, _override(made, roster()))


@router.delete(
    "/rotations/{uuid:rotation_id}/overrides/{uuid:override_id}", response={204: None}, summary="End an override"
)
def withdraw(request: KeyRequest, rotation_id: UUID, override_id: UUID) -> Status[None]:
    """At once; votes that were given under it stay."""
    bearer = demand(request, "settings:write", "admin", "manager")
    with scope(bearer.tenant):
        rotations.withdraw(rotation_id, override_id, actor=bearer.actor, channel="api")
    return Status(204, None)


def _member(named: str) -> Member:
    try:
        key = rule_bodies.member_id(named)
    except ValueError as error:
        raise errors.field("member", str(error)) from error
    return Member.objects.get(pk=key)


def _shape(row: Rotation, people: Roster) -> Shape:
    members = [{"id": key, "name": people.name(UUID(key))} for key in rotations.members_of(row)]
    now = people.rotations[str(row.pk)].turn
    return {
        **rotations.written(row),
        "id": row.pk,
        "members": members,
        "on_call": _turn(now, people) if now.begun else None,
        "created_at": row.created_at,
    }


def _turn(turn: Turn, people: Roster) -> Shape:
    return {
        "member": turn.member,
        "name": people.name(turn.member),
        "from": turn.starts,
        "until": turn.ends,
        "override": turn.override,
        "instead_of": list(turn.instead_of),
    }


def _override(row: RotationOverride, people: Roster) -> Shape:
    return {
        "id": row.pk,
        "member": row.member_id,
        "name": people.name(row.member_id),
        "from": row.starts,
        "until": row.ends,
    }
