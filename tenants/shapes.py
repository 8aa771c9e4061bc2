"""What the routes of this floor take and answer."""

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field, StringConstraints

from tenants.models import ApiKey, Group, Member

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Email = Annotated[str, StringConstraints(strip_whitespace=True, max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")]


Role = Literal["reviewer", "manager", "admin"]
Scope = Literal[
    "runs:read",
    "runs:start",
    "runs:operate",
    "approvals:read",
    "approvals:decide",
    "settings:read",
    "settings:write",
    "audit:read",
]


class Taken(Schema):
    """A body: unknown fields are refused, so that a misspelt one is not lost."""

    model_config = ConfigDict(extra="forbid")


class NewMember(Taken):
    """A person to be made a member."""

    email: Email
    roles: list[Role] = Field(min_length=1)
    name: str = Field(default="", max_length=200)


class MemberChange(Taken):
    """What may change about a member."""

    active: bool | None = None
    roles: list[Role] | None = None


class NewGroup(Taken):
    """A group, and the addresses of its members."""

    name: Name
    members: list[Email] = Field(default_factory=list)


class GroupChange(Taken):
    """What may change about a group; `members` are then all of its members."""

    name: Name | None = None
    members: list[Email] | None = None


class NewKey(Taken):
    """A key of the caller, or a service key that the caller owns."""

    name: Name
    scopes: list[Scope] = Field(min_length=1)
    service: bool = False


class SettingsChange(Taken):
    """What a tenant may settle for itself."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    timezone: str | None = None
    locale: str | None = None
    retention_days: int | None = Field(default=None, le=36500)
    second_factor: bool | None = None
    initiators_may_review: bool | None = None
    notifications: dict[str, Any] | None = None


def member(row: Member, *, invitation: str | None = None) -> dict[str, Any]:
    """The member as the API shows one; `invitation` only to whoever has just added them."""
    shape = {
        "id": row.pk,
        "email": row.email,
        "name": row.name,
        "roles": list(row.roles),
        "active": row.active,
        "created_at": row.created_at,
    }
    return shape if invitation is None else {**shape, "invitation": invitation}


def group(row: Group) -> dict[str, Any]:
    """The group with the addresses of its members."""
    rows = row.memberships.select_related("member__person").order_by("member__person__email")
    people = [{"id": each.member_id, "email": each.member.email, "name": each.member.name} for each in rows]
    return {"id": row.pk, "name": row.name, "members": people, "created_at": row.created_at}


def key(row: ApiKey, *, text: str | None = None, last_act: datetime | None = None) -> dict[str, Any]:
    """The key without its secret; `text` is the whole of it, told once. Reading is no act."""
    shape = {
        "id": row.pk,
        "name": row.name,
        "service": row.service,
        "scopes": list(row.scopes),
        "owner": row.owner_id,
        "created_at": row.created_at,
        "revoked_at": row.revoked_at,
        "last_act": last_act,
    }
    return shape if text is None else {**shape, "key": text}
