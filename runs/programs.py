"""Agents and tools as workers announced them last and as the tenant in scope has switched them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from runs.models import AgentVersion, ToolDefinition
from runs.telling import RISKS, stricter
from tenants.models import AgentAccess, Member, ToolSetting
from tenants.refusals import not_found

NO_AGENT = _("There is no such agent here. An admin switches agents on.")
NO_TOOL = _("There is no such tool here.")


@dataclass(frozen=True, kw_only=True)
class Program:
    """An agent: what is known of it, the newest version first, and how the tenant switched it."""

    name: str
    enabled: bool
    restricted: bool
    stopped: bool
    versions: Sequence[str]
    tools: Sequence[str]
    live: bool
    model: str = ""
    seen_until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class KnownTool:
    """A tool; `lowest_risk` is its author's, `own_risk` the tenant's or empty, `risk` the one that counts."""

    name: str
    title: str
    description: str
    version: str
    effect: str
    risk: str
    lowest_risk: str
    own_risk: str
    enabled: bool
    fingerprint: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sensitive: Sequence[str] = ()
    undo: str | None = None


def agents_seen(member: Member) -> "QuerySet[AgentVersion]":
    """One row an agent this member sees: those switched on, and to an admin every one that was announced."""
    return _seen(AgentVersion.objects.order_by("agent").distinct("agent"), member)


def tools_seen(member: Member) -> "QuerySet[ToolDefinition]":
    """The newest definition of each tool of the agents this member sees."""
    wanted = [mark for each in _seen(AgentVersion.objects.all(), member) for mark in each.tools]
    newest = ToolDefinition.objects.filter(fingerprint__in=wanted).order_by("name", "-announced_at").distinct("name")
    return ToolDefinition.objects.filter(fingerprint__in=[row.fingerprint for row in newest])


def agents_told(names: Iterable[str]) -> dict[str, Program]:
    """These agents by name; three queries whatever their number."""
    wanted = list(names)
    switched = {access.agent: access for access in AgentAccess.objects.filter(agent__in=wanted)}
    versions: dict[str, list[AgentVersion]] = {}
    for row in AgentVersion.objects.filter(agent__in=wanted).order_by("agent", "-announced_at", "-id"):
        versions.setdefault(row.agent, []).append(row)
    marks = {mark for several in versions.values() for version in several for mark in version.tools}
    tools = dict(ToolDefinition.objects.filter(fingerprint__in=marks).values_list("fingerprint", "name"))
    return {name: _program(name, switched.get(name), versions.get(name, []), tools) for name in wanted}


def tools_told(rows: Iterable[ToolDefinition]) -> list[KnownTool]:
    """These tools in their order; one query whatever their number."""
    found = list(rows)
    settings = {row.tool: row for row in ToolSetting.objects.filter(tool__in=[row.name for row in found])}
    return [_tool(row, settings.get(row.name)) for row in found]


def agent(name: str, member: Member) -> Program:
    """One agent this member sees; Refusal 404."""
    if not agents_seen(member).filter(agent=name).exists():
        raise not_found(NO_AGENT)
    return agents_told([name])[name]


def tool(name: str, member: Member) -> KnownTool:
    """One tool this member sees; Refusal 404."""
    found = tools_told(tools_seen(member).filter(name=name))
    if not found:
        raise not_found(NO_TOOL)
    return found[0]


def risks_from(lowest: str) -> tuple[str, ...]:
    """The risks a tenant may give a tool whose author says `lowest`."""
    return RISKS[RISKS.index(lowest) :] if lowest in RISKS else RISKS


def schemas() -> dict[str, Mapping[str, Any]]:
    """The parameters of every tool that was ever announced, as it was announced last; one query."""
    newest = ToolDefinition.objects.order_by("name", "-announced_at").distinct("name")
    return {row.name: row.definition.get("parameters") or {} for row in newest}


def agent_names() -> list[str]:
    """Every agent that was ever announced; one query."""
    return list(AgentVersion.objects.order_by("agent").values_list("agent", flat=True).distinct())


def _seen(rows: "QuerySet[AgentVersion]", member: Member) -> "QuerySet[AgentVersion]":
    if member.has("admin"):
        return rows
    enabled = AgentAccess.objects.filter(enabled=True).values_list("agent", flat=True)
    return rows.filter(agent__in=list(enabled))


def _program(
    name: str, access: AgentAccess | None, versions: Sequence[AgentVersion], tools: Mapping[str, str]
) -> Program:
    newest = versions[0].tools if versions else []
    until = max((version.known_until for version in versions), default=None)
    return Program(
        name=name,
        enabled=access is not None and access.enabled,
        restricted=access is not None and access.restricted,
        stopped=access is not None and access.stopped,
        versions=[version.version for version in versions],
        tools=[tools[mark] for mark in newest if mark in tools],
        live=until is not None and until > timezone.now(),
        model=versions[0].model if versions else "",
        seen_until=until,
    )


def _tool(row: ToolDefinition, setting: ToolSetting | None) -> KnownTool:
    said = row.definition
    lowest, own = str(said.get("risk") or "low"), setting.risk if setting else ""
    return KnownTool(
        name=row.name,
        title=said.get("title") or row.name,
        description=said.get("description") or "",
        version=str(said.get("version") or ""),
        effect=said.get("effect") or "",
        risk=stricter(lowest, own),
        lowest_risk=lowest,
        own_risk=own,
        enabled=setting is None or setting.enabled,
        fingerprint=row.fingerprint,
        parameters=said.get("parameters") or {},
        sensitive=said.get("sensitive") or [],
        undo=said.get("undo"),
    )
