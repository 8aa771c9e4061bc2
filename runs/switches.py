"""What a tenant settles about its agents and tools: on, off, stopped, riskier; the one door of page and API."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from runs import access, programs, states
from runs.command import command
from runs.models import AgentVersion, Run
from runs.programs import risks_from
from tenants import agents, audit, members, stamps
from tenants.actors import Actor
from tenants.audit_names import Action
from tenants.models import AgentAccess, Member, ToolSetting
from tenants.refusals import forbidden, invalid, not_found
from tenants.scope import current, scope


def switch_agent(
    name: str, *, actor: Actor, enabled: bool | None = None, restricted: bool | None = None, channel: str = ""
) -> AgentAccess:
    """Switch an agent on or off here, or let its roles need a permission of their own; None leaves it. Refusal 404.

    Off: no run starts, and calls of running ones are refused.
    """
    known = AgentVersion.objects.filter(agent=name).exists() or AgentAccess.objects.filter(agent=name).exists()
    if not known:
        raise not_found(programs.NO_AGENT)
    wanted = {"enabled": enabled, "restricted": restricted}
    changes = {switch: value for switch, value in wanted.items() if value is not None}
    return agents.switch(name, actor=actor, channel=channel, **changes)


@dataclass(frozen=True)
class Permitted:
    """What a member may do with one restricted agent."""

    member: UUID
    name: str
    email: str
    roles: Sequence[str]
    permissions: Sequence[str]


def everyone(name: str) -> list[Permitted]:
    """Every reviewer and manager, with what each is permitted of the agent, by name. Refusal 404."""
    held = agents.permitted(_demand_known(name))
    rows = Member.objects.filter(active=True, roles__overlap=["reviewer", "manager"]).select_related("person")
    found = [_permitted(row, held.get(row.person_id, [])) for row in rows]
    return sorted(found, key=lambda each: (each.name, each.member))


def permit(name: str, member: UUID, *, permissions: Collection[str], actor: Actor, channel: str = "") -> Permitted:
    """Let a member have exactly these permissions of the agent; Refusal 404, or 422 for one that there is not."""
    access_row, found = _demand_known(name), members.member(member)
    if unknown := sorted(set(permissions) - set(agents.PERMISSIONS)):
        message = _("There is no such permission: %(name)s.") % {"name": unknown[0]}
        raise invalid(message, errors=[{"field": "permissions", "message": message}])
    agents.permit(access_row, found, permissions=permissions, actor=actor, channel=channel)
    return _permitted(found, agents.permitted(access_row).get(found.person_id, []))


def _permitted(member: Member, permissions: Sequence[str]) -> Permitted:
    return Permitted(member.pk, member.name, member.email, member.roles, permissions)


def _demand_known(name: str) -> AgentAccess:
    found = agents.access(name)
    if found is None:
        raise not_found(programs.NO_AGENT)
    return found


def stop(name: str, *, by: Member, actor: Actor, channel: str = "") -> AgentAccess:
    """Let no new run of the agent start; `settle_runs` then pauses those it has. Managers; Refusal 403, 404."""
    _demand_stoppable(name, by)
    return agents.switch(name, actor=actor, channel=channel, stopped=True)


def start(name: str, *, by: Member, actor: Actor, channel: str = "") -> AgentAccess:
    """Let runs start again; `settle_runs` then resumes those the stop paused. Managers; Refusal 403, 404."""
    _demand_stoppable(name, by)
    return agents.switch(name, actor=actor, channel=channel, stopped=False)


def settle_runs(name: str, *, tenant: UUID, actor: Actor, channel: str = "") -> int:
    """Bring the agent's runs in line with its switch, each in a transaction of its own; how many moved.

    Needs no open scope: a transaction holds one run. Doing it again changes nothing, so that what was broken off
    half-way is finished by pressing the button again.
    """
    with scope(tenant, read_only=True):
        found = agents.access(name)
        wanted = _to_pause(name) if found and found.stopped else _to_resume(name)
        keys = list(wanted.values_list("pk", flat=True))
    return sum(_settle_run(key, name, tenant=tenant, actor=actor, channel=channel) for key in keys)


def set_tool(
    name: str,
    *,
    actor: Actor,
    by: Member,
    enabled: bool | None = None,
    risk: str | None = None,
    channel: str = "",
) -> ToolSetting:
    """Switch a tool on or off, or let it count as riskier than its author says; an empty risk means the author's.

    None leaves a setting as it is. Refusal 404, and 422 where the risk is below the author's.
    """
    known = programs.tool(name, by)
    if risk and risk not in risks_from(known.lowest_risk):
        raise _too_low(risk, known.lowest_risk)
    setting, _made = ToolSetting.objects.select_for_update().get_or_create(tenant_id=current(), tool=name)
    before = {"enabled": setting.enabled, "risk": setting.risk}
    setting.enabled = setting.enabled if enabled is None else enabled
    setting.risk = setting.risk if risk is None else risk
    setting.save(update_fields=["enabled", "risk"])
    stamps.bump()
    detail = {"before": before, "after": {"enabled": setting.enabled, "risk": setting.risk}}
    audit.record("tool.changed", actor=actor, target=f"tool:{name}", detail=detail, channel=channel)
    return setting


def _too_low(risk: str, lowest: str) -> Exception:
    if risk not in risks_from("low"):
        message = _("One of these is wanted: low, medium, high, critical.")
    else:
        message = _("The tool's author says %(lowest)s. A risk may be raised here, never lowered.") % {"lowest": lowest}
    return invalid(message, code="risk_too_low", errors=[{"field": "risk", "message": message}])


def _demand_stoppable(name: str, by: Member) -> None:
    found = agents.access(name)
    if found is None or not found.enabled:
        raise not_found(programs.NO_AGENT)
    if not by.has("manager"):
        raise forbidden(_("Only a manager stops and starts agents."), code="no_role")
    if name in access.barred(by, "operate_runs"):
        raise forbidden(_("This agent is restricted, and you may not operate its runs."), code="restricted")


def _to_pause(name: str) -> "QuerySet[Run]":
    return Run.objects.filter(agent=name, status__in=sorted(states.UNFINISHED - {states.PAUSED}))


def _to_resume(name: str) -> "QuerySet[Run]":
    return Run.objects.filter(agent=name, status=states.PAUSED, reason=states.AGENT_STOPPED)


def _settle_run(key: UUID, name: str, *, tenant: UUID, actor: Actor, channel: str) -> bool:
    """Pause or resume one run, if it is still against the switch as it stands now."""
    with scope(tenant):
        door = command(key, actor=actor)
        found = agents.held(name)
        stopped = found is not None and found.stopped
        if not (_to_pause(name) if stopped else _to_resume(name)).filter(pk=key).exists():
            return False
        if stopped:
            door.move(states.PAUSED, reason=states.AGENT_STOPPED)
        else:
            door.move(states.QUEUED, data={"because": "agent_started"})
        action: Action = "run.paused" if stopped else "run.resumed"
        detail = {"because": states.AGENT_STOPPED if stopped else "agent_started"}
        audit.record(action, actor=actor, target=f"run:{key}", detail=detail, channel=channel)
        return True
