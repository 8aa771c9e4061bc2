"""Agents and tools as workers announced them and as this tenant has switched them."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from ninja import Query

from runs.api.routing import router
from runs.api.schemas import AgentPage, PageQuery, ToolPage
from runs.models import AgentVersion, ToolDefinition
from runs.telling import stricter
from tenants.bearer import demand
from tenants.models import AgentAccess, Member, ToolSetting
from tenants.paging import page
from tenants.requests import KeyRequest

Answer = dict[str, Any]


@router.get("/agents", tags=["programs"], response=AgentPage, summary="List agents")
def list_agents(request: KeyRequest, query: Query[PageQuery]) -> Answer:
    """The agents switched on here; an admin also sees those that could be."""
    bearer = demand(request, "settings:read")
    switched = {access.agent: access for access in AgentAccess.objects.all()}
    names = AgentVersion.objects.order_by("agent").distinct("agent")
    found = page(_seen(names, bearer.member), by=["agent"], cursor=query.cursor, limit=query.limit)
    versions = _versions(row.agent for row in found.items)
    tools = _tool_names(version for several in versions.values() for version in several)
    return found.answer(lambda row: _agent(row.agent, switched.get(row.agent), versions.get(row.agent, []), tools))


@router.get("/tools", tags=["programs"], response=ToolPage, summary="List tools")
def list_tools(request: KeyRequest, query: Query[PageQuery]) -> Answer:
    """The tools of the agents one sees, each as it was announced last."""
    bearer = demand(request, "settings:read")
    wanted = [mark for each in _seen(AgentVersion.objects.all(), bearer.member) for mark in each.tools]
    newest = ToolDefinition.objects.filter(fingerprint__in=wanted).order_by("name", "-announced_at").distinct("name")
    rows = ToolDefinition.objects.filter(fingerprint__in=[row.fingerprint for row in newest])
    found = page(rows, by=["name"], cursor=query.cursor, limit=query.limit)
    settings = {row.tool: row for row in ToolSetting.objects.filter(tool__in=[row.name for row in found.items])}
    return found.answer(lambda row: _tool(row, settings.get(row.name)))


def _seen(rows: "QuerySet[AgentVersion]", member: Member) -> "QuerySet[AgentVersion]":
    if member.has("admin"):
        return rows
    enabled = AgentAccess.objects.filter(enabled=True).values_list("agent", flat=True)
    return rows.filter(agent__in=list(enabled))


def _versions(names: Iterable[str]) -> dict[str, list[AgentVersion]]:
    found: dict[str, list[AgentVersion]] = {}
    for row in AgentVersion.objects.filter(agent__in=list(names)).order_by("agent", "-announced_at", "-id"):
        found.setdefault(row.agent, []).append(row)
    return found


def _tool_names(versions: Iterable[AgentVersion]) -> dict[str, str]:
    marks = {mark for version in versions for mark in version.tools}
    return dict(ToolDefinition.objects.filter(fingerprint__in=marks).values_list("fingerprint", "name"))


def _agent(name: str, access: AgentAccess | None, versions: list[AgentVersion], tools: dict[str, str]) -> Answer:
    newest = versions[0].tools if versions else []
    now = timezone.now()
    return {
        "name": name,
        "enabled": access is not None and access.enabled,
        "restricted": access is not None and access.restricted,
        "stopped": access is not None and access.stopped,
        "versions": [version.version for version in versions],
        "tools": [tools[mark] for mark in newest if mark in tools],
        "live": any(version.known_until > now for version in versions),
    }


def _tool(row: ToolDefinition, setting: ToolSetting | None) -> Answer:
    said = row.definition
    return {
        "name": row.name,
        "title": said.get("title") or row.name,
        "description": said.get("description") or "",
        "version": str(said.get("version") or ""),
        "effect": said.get("effect") or "",
        "risk": stricter(str(said.get("risk") or "low"), setting.risk if setting else ""),
        "lowest_risk": said.get("risk") or "low",
        "enabled": setting is None or setting.enabled,
        "fingerprint": row.fingerprint,
        "parameters": said.get("schema") or {},
        "sensitive": said.get("sensitive") or [],
        "undo": said.get("undo"),
    }
