"""Agents and tools as an admin sees them: what workers announced, and what this tenant has switched."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from runs.models import AgentVersion, ToolDefinition
from runs.telling import stricter
from tenants import agents
from tenants.models import AgentAccess, ToolSetting
from tenants.pages import admin_request, tabs
from tenants.refusals import invalid, not_found
from tenants.scope import scope

RISKS = ("low", "medium", "high", "critical")


@dataclass(frozen=True)
class AgentLine:
    """One agent: its newest version, and how it is switched here."""

    name: str
    url: str
    version: str
    model: str
    seen_at: datetime
    tools: list[str]
    enabled: bool
    restricted: bool
    stopped: bool


@dataclass(frozen=True)
class ToolLine:
    """One tool: the risk its author set at least, what this tenant made of it, and the risks it may have."""

    name: str
    url: str
    title: str
    effect: str
    risk: str
    own_risk: str
    risks: tuple[str, ...]
    enabled: bool


@require_safe
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """The agents and the tools that workers know."""
    mine = admin_request(request)
    base = f"/t/{slug}/settings/"
    versions = list(AgentVersion.objects.order_by("agent", "-announced_at", "-id"))
    tools = {row.fingerprint: row for row in ToolDefinition.objects.order_by("announced_at")}
    view = {"agents": _agents(versions, tools, base), "tools": _tools(list(tools.values()), base)}
    context = {"view": view, "section": "tools", "tabs": tabs(mine, "tools", "agents")}
    return render(request, "settings/agents.html", context)


@require_POST
def agent(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Switch an agent on or off."""
    mine = admin_request(request)
    if not AgentVersion.objects.filter(agent=name).exists():
        raise not_found(_("No worker has announced this agent yet."))
    with scope(mine.tenant.pk):
        agents.switch(name, actor=mine.actor, enabled=request.POST.get("enabled") == "1")
    return HttpResponseRedirect(f"/t/{slug}/settings/agents/")


@require_POST
def tool(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Switch a tool on or off, and raise its risk; never lower than its author set it."""
    mine = admin_request(request)
    row = ToolDefinition.objects.filter(name=name).order_by("-announced_at").first()
    if row is None:
        raise not_found(_("No worker has announced this tool yet."))
    lowest, wanted = str(row.definition.get("risk") or "low"), request.POST.get("risk", "")
    if wanted not in RISKS or stricter(lowest, wanted) != wanted:
        raise invalid(_("A tenant may raise a tool's risk, never lower it."), code="risk_too_low")
    with scope(mine.tenant.pk):
        own = "" if wanted == lowest else wanted
        agents.settle_tool(name, actor=mine.actor, enabled=request.POST.get("enabled") == "1", risk=own)
    return HttpResponseRedirect(f"/t/{slug}/settings/agents/#tools")


def _agents(versions: list[AgentVersion], tools: dict[str, ToolDefinition], base: str) -> list[AgentLine]:
    switched = {row.agent: row for row in AgentAccess.objects.all()}
    newest = {row.agent: row for row in reversed(versions)}
    return [_agent(newest[name], switched.get(name), tools, base) for name in sorted(newest)]


def _agent(row: AgentVersion, access: AgentAccess | None, tools: dict[str, ToolDefinition], base: str) -> AgentLine:
    return AgentLine(
        name=row.agent,
        url=f"{base}agents/{row.agent}/",
        version=row.version,
        model=row.model,
        seen_at=row.known_until,
        tools=[tools[mark].name for mark in row.tools if mark in tools],
        enabled=access is not None and access.enabled,
        restricted=access is not None and access.restricted,
        stopped=access is not None and access.stopped,
    )


def _tools(rows: list[ToolDefinition], base: str) -> list[ToolLine]:
    settings = {row.tool: row for row in ToolSetting.objects.all()}
    newest = {row.name: row for row in rows}
    return [_tool(newest[name], settings.get(name), base) for name in sorted(newest)]


def _tool(row: ToolDefinition, setting: ToolSetting | None, base: str) -> ToolLine:
    lowest = str(row.definition.get("risk") or "low")
    return ToolLine(
        name=row.name,
        url=f"{base}tools/{row.name}/",
        title=str(row.definition.get("title") or ""),
        effect=str(row.definition.get("effect") or ""),
        risk=lowest,
        own_risk=setting.risk if setting else "",
        risks=RISKS[RISKS.index(lowest) :],
        enabled=setting is None or setting.enabled,
    )
