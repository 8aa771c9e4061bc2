"""The groups of a tenant: named sets of members."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from tenants import audit, members, naming, stamps
from tenants.actors import Actor
from tenants.audit_names import Action
from tenants.models import Group, GroupMember, Member
from tenants.refusals import invalid, not_found
from tenants.scope import current


def group(group_id: UUID) -> Group:
    """The group with this id; raises Refusal 404."""
    found = Group.objects.filter(pk=group_id).first()
    if found is None:
        raise not_found(_("There is no such group."))
    return found


def create(name: str, *, actor: Actor, emails: Sequence[str] = (), channel: str = "") -> Group:
    """A new group of the members with these addresses; raises Refusal for a name taken or a stranger."""
    _demand_free(name)
    found = Group.objects.create(tenant_id=current(), name=name)
    _fill(found, [members.by_email(email) for email in emails])
    _changed("group.created", found, actor=actor, detail={"name": name, "members": list(emails)}, channel=channel)
    return found


def change(
    group_id: UUID,
    *,
    actor: Actor,
    name: str | None = None,
    emails: Sequence[str] | None = None,
    channel: str = "",
) -> Group:
    """Name the group anew, or let it have exactly the members with these addresses."""
    found = group(group_id)
    if name is not None and name != found.name:
        _demand_free(name)
        found.name = name
        found.save(update_fields=["name"])
    if emails is not None:
        wanted = [members.by_email(email) for email in emails]
        found.memberships.exclude(member__in=wanted).delete()
        _fill(found, wanted)
    detail = {"name": name, "members": None if emails is None else list(emails)}
    _changed("group.changed", found, actor=actor, detail=detail, channel=channel)
    return found


def add(group_id: UUID, member_id: UUID, *, actor: Actor, channel: str = "") -> Group:
    """Let a member into the group; raises Refusal 404. One who is in it already stays."""
    found = group(group_id)
    _fill(found, [members.member(member_id)])
    _changed("group.changed", found, actor=actor, detail={"added": str(member_id)}, channel=channel)
    return found


def remove(group_id: UUID, member_id: UUID, *, actor: Actor, channel: str = "") -> Group:
    """Take a member out of the group; raises Refusal 404 where they are not in it."""
    found = group(group_id)
    gone, _each = found.memberships.filter(member_id=member_id).delete()
    if not gone:
        raise not_found(_("There is no such member in this group."))
    _changed("group.changed", found, actor=actor, detail={"removed": str(member_id)}, channel=channel)
    return found


def delete(group_id: UUID, *, actor: Actor, channel: str = "") -> None:
    """Delete the group. A rule that names it is then short of people, and says so."""
    found = group(group_id)
    name, key = found.name, found.pk
    found.delete()
    stamps.bump()
    audit.record("group.deleted", actor=actor, target=f"group:{key}", detail={"name": name}, channel=channel)


def _demand_free(name: str) -> None:
    naming.demand(name)
    if Group.objects.filter(name=name).exists():
        raise invalid(_("There is already a group of this name."), code="name_taken")


def _fill(found: Group, wanted: Sequence[Member]) -> None:
    rows = [GroupMember(tenant_id=current(), group=found, member=member) for member in wanted]
    GroupMember.objects.bulk_create(rows, ignore_conflicts=True)


def _changed(action: Action, found: Group, *, actor: Actor, detail: dict[str, Any], channel: str) -> None:
    stamps.bump()
    told = {**detail, "called": found.name}  # So that the entry says later what it was called now.
    audit.record(action, actor=actor, target=f"group:{found.pk}", detail=told, channel=channel)
