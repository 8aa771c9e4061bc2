"""The routes of this floor: members, groups, keys, settings, and the export of the audit."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from ninja import Router, Status

from tenants import audit_log, groups, keys, members, preferences, shapes
from tenants.bearer import demand
from tenants.frame import short_scopes
from tenants.models import ApiKey, Group, Member
from tenants.paging import page
from tenants.refusals import forbidden
from tenants.scope import scope
from tenants.streaming import Format, export

router = Router(tags=["settings"])


@router.get("/members", summary="List the members")
def list_members(request: Any, cursor: str | None = None, limit: int | None = None) -> dict[str, Any]:
    """Everybody who is a member here, those who are switched off too, each with their roles."""
    demand(request, "settings:read")
    rows = Member.objects.select_related("person")
    return page(rows, by=["id"], cursor=cursor, limit=limit).answer(shapes.member)


@router.get("/members/{member_id}", summary="Read a member")
def read_member(request: Any, member_id: UUID) -> dict[str, Any]:
    """One member with their roles."""
    demand(request, "settings:read")
    return shapes.member(members.member(member_id))


@router.post("/members", response={201: Any}, summary="Add a member")
def add_member(request: Any, body: shapes.NewMember) -> Status[Any]:
    """Make a person a member; the answer holds the link under which they choose a password."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        found = members.add(body.email, actor=bearer.actor, roles=body.roles, name=body.name, channel="api")
        return Status(201, shapes.member(found, invitation=members.invitation_if_new(found.person)))


@router.patch("/members/{member_id}", summary="Change a member")
def change_member(request: Any, member_id: UUID, body: shapes.MemberChange) -> dict[str, Any]:
    """Give a member other roles, or switch them off and on; it counts at once."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        changes = body.dict(exclude_unset=True)
        return shapes.member(members.change(member_id, actor=bearer.actor, channel="api", **changes))


@router.get("/groups", summary="List the groups")
def list_groups(request: Any, cursor: str | None = None, limit: int | None = None) -> dict[str, Any]:
    """The groups that rules and levels may name."""
    demand(request, "settings:read")
    return page(Group.objects.all(), by=["id"], cursor=cursor, limit=limit).answer(shapes.group)


@router.get("/groups/{group_id}", summary="Read a group")
def read_group(request: Any, group_id: UUID) -> dict[str, Any]:
    """One group that rules and levels may name."""
    demand(request, "settings:read")
    return shapes.group(groups.group(group_id))


@router.post("/groups", response={201: Any}, summary="Make a group")
def create_group(request: Any, body: shapes.NewGroup) -> Status[Any]:
    """Make a group that rules and levels may name, of members by e-mail address."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        found = groups.create(body.name, actor=bearer.actor, emails=body.members, channel="api")
        return Status(201, shapes.group(found))


@router.patch("/groups/{group_id}", summary="Change a group")
def change_group(request: Any, group_id: UUID, body: shapes.GroupChange) -> dict[str, Any]:
    """Name a group anew, or give it other members."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        changed = groups.change(group_id, actor=bearer.actor, name=body.name, emails=body.members, channel="api")
        return shapes.group(changed)


@router.delete("/groups/{group_id}", response={204: None}, summary="Delete a group")
def delete_group(request: Any, group_id: UUID) -> Status[None]:
    """Delete a group; a rule that names it is then short of people, and says so."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        groups.delete(group_id, actor=bearer.actor, channel="api")
    return Status(204, None)


@router.put("/groups/{group_id}/members/{member_id}", response={204: None}, summary="Add a member to a group")
def add_to_group(request: Any, group_id: UUID, member_id: UUID) -> Status[None]:
    """Let a member into a group; what waits for the group is asked of them too."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        groups.add(group_id, member_id, actor=bearer.actor, channel="api")
    return Status(204, None)


@router.delete("/groups/{group_id}/members/{member_id}", response={204: None}, summary="Take a member out of a group")
def remove_from_group(request: Any, group_id: UUID, member_id: UUID) -> Status[None]:
    """Take a member out of a group; what waits for the group is asked of them no more."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        groups.remove(group_id, member_id, actor=bearer.actor, channel="api")
    return Status(204, None)


@router.get("/keys", summary="List the keys")
def list_keys(request: Any, cursor: str | None = None, limit: int | None = None) -> dict[str, Any]:
    """The keys of the tenant, to an admin; to others their own. No answer holds a secret.

    `last_act` is when a key last changed something or was refused a change. Reading leaves no trace: a key that only
    reads has null, however often it is used.
    """
    bearer = demand(request, "settings:read")
    rows = ApiKey.objects.all() if bearer.member.has("admin") else ApiKey.objects.filter(owner=bearer.member)
    found = page(rows, by=["id"], cursor=cursor, limit=limit)
    acted = keys.last_acts(found.items)
    return found.answer(lambda row: shapes.key(row, last_act=acted.get(row.pk)))


@router.post("/keys", response={201: Any}, summary="Make a key")
def create_key(request: Any, body: shapes.NewKey) -> Status[Any]:
    """Make a key of the caller, with scopes the calling key has itself; its text is told once."""
    bearer = demand(request, "settings:write", "admin")
    if not set(body.scopes) & set(keys.SCOPES) <= bearer.scopes:
        raise forbidden(keys.WIDER, code="wider_scope")
    with scope(bearer.tenant):
        found, text = keys.create(
            bearer.member, actor=bearer.actor, scopes=body.scopes, name=body.name, service=body.service, channel="api"
        )
        return Status(201, shapes.key(found, text=text))


@router.delete("/keys/{key_id}", response={204: None}, summary="Revoke a key")
def revoke_key(request: Any, key_id: UUID) -> Status[None]:
    """End a key at once; what it started goes on."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        keys.revoke(key_id, actor=bearer.actor, channel="api")
    return Status(204, None)


@router.get("/settings", summary="Read the settings")
def read_settings(request: Any) -> dict[str, Any]:
    """What the tenant has settled for itself: language, zone, retention, second factor, notices."""
    demand(request, "settings:read")
    return preferences.read()


@router.patch("/settings", summary="Change the settings")
def change_settings(request: Any, body: shapes.SettingsChange) -> dict[str, Any]:
    """Settle something anew; what is left out stays."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        return preferences.change(actor=bearer.actor, channel="api", **body.dict(exclude_none=True))


@router.get("/exports/audit", tags=["exports"], summary="Export the audit")
@short_scopes
def export_audit(
    request: Any,
    format: Format = "ndjson",  # noqa: A002  # The contract's word.
    action: str | None = None,
    target: str | None = None,
    actor: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> HttpResponseBase:
    """The audit, oldest first, with what proves it."""
    bearer = demand(request, "audit:read", "admin")
    filters: dict[str, Any] = {"action": action, "target": target, "actor_id": actor, "since": since, "until": until}
    rows = audit_log.all_entries(bearer.tenant, **filters)
    return export(rows, name="audit", form=format, columns=audit_log.COLUMNS)
