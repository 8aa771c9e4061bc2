"""Which agents a tenant has switched on, and which members may touch a restricted one."""

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import Permission
from guardian.core import ObjectPermissionChecker

from tenants import audit, stamps
from tenants.actors import Actor
from tenants.models import AgentAccess, AgentUserPermission, Member
from tenants.scope import current

PERMISSIONS = ("view_runs", "operate_runs", "review")
"""What a member may be allowed of a restricted agent, besides what the role allows."""


def access(agent: str) -> AgentAccess | None:
    """What the tenant in scope has settled about this agent; None where no admin ever switched it on."""
    return AgentAccess.objects.filter(agent=agent).first()


def held(agent: str) -> AgentAccess | None:
    """The same, read so that no switch of it commits before the transaction in hand does.

    Whatever lets a run of the agent go on reads it so; else a stop that comes between would miss that run.
    """
    query = "SELECT * FROM tenants_agentaccess WHERE agent = %s FOR SHARE"
    return next(iter(AgentAccess.objects.raw(query, [agent])), None)


def is_on(agent: str) -> bool:
    """Whether an admin switched the agent on; a stopped one counts as on."""
    return AgentAccess.objects.filter(agent=agent, enabled=True).exists()


def permits(member: Member, agent: str, permission: str) -> bool:
    """Whether the agent's switch leaves this member their role: `view_runs`, `operate_runs` or `review`.

    A role holds for every agent that is not restricted; a restricted one needs the permission too.
    """
    found = access(agent)
    if found is None or not found.restricted:
        return True
    return ObjectPermissionChecker(member.person).has_perm(permission, found)


def switch(agent: str, *, actor: Actor, channel: str = "", **changes: Any) -> AgentAccess:
    """Set `enabled`, `restricted` or `stopped` of the agent, and make its row where there is none."""
    found, _made = AgentAccess.objects.select_for_update().get_or_create(
        tenant_id=current(), agent=agent, defaults={"enabled": False}
    )
    for name, value in changes.items():
        setattr(found, name, value)
    found.save(update_fields=list(changes))
    stamps.bump()
    audit.record("agent.changed", actor=actor, target=f"agent:{agent}", detail=dict(changes), channel=channel)
    return found


def permitted(found: AgentAccess) -> dict[Any, list[str]]:
    """Who is permitted what of the agent: person → permissions, in the order of PERMISSIONS."""
    rows = AgentUserPermission.objects.filter(content_object=found).values_list("user_id", "permission__codename")
    held: dict[Any, set[str]] = {}
    for person, name in rows:
        held.setdefault(person, set()).add(name)
    return {person: [name for name in PERMISSIONS if name in names] for person, names in held.items()}


def permit(
    found: AgentAccess, member: Member, *, permissions: Collection[str], actor: Actor, channel: str = ""
) -> None:
    """Let the member have exactly these permissions of the agent; what waits is asked again, votes counted anew.

    They count while the agent is restricted. The same ones again change and record nothing.
    """
    before = permitted(found).get(member.person_id, [])
    after = [name for name in PERMISSIONS if name in permissions]
    if after == before:
        return
    rows = AgentUserPermission.objects.filter(content_object=found, user_id=member.person_id)
    rows.exclude(permission__codename__in=after).delete()
    for each in Permission.objects.filter(codename__in=set(after) - set(before), content_type__app_label="tenants"):
        AgentUserPermission.objects.create(user_id=member.person_id, permission=each, content_object=found)
    stamps.bump()
    detail = {"member": str(member.pk), "before": before, "after": after}
    audit.record("agent.permitted", actor=actor, target=f"agent:{found.agent}", detail=detail, channel=channel)
