"""Agents and tools as an admin sees and switches them."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from runs import programs, switches
from runs.programs import KnownTool, Program
from tenants.pages import admin_request, tabs
from tenants.scope import scope


@dataclass(frozen=True)
class AgentLine:
    """One agent with the address that switches it."""

    told: Program
    url: str

    @property
    def version(self) -> str:
        """The newest version, or "" where none is known."""
        return self.told.versions[0] if self.told.versions else ""


@dataclass(frozen=True)
class ToolLine:
    """One tool with the address that settles it, and the risks it may have here."""

    told: KnownTool
    url: str
    risks: tuple[str, ...]


@require_safe
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """The agents and the tools that workers know."""
    mine = admin_request(request)
    base = f"/t/{slug}/settings/"
    names = list(programs.agents_seen(mine.member).values_list("agent", flat=True))
    agents = [AgentLine(each, f"{base}agents/{each.name}/") for each in programs.agents_told(names).values()]
    known = programs.tools_told(programs.tools_seen(mine.member).order_by("name"))
    tools = [ToolLine(each, f"{base}tools/{each.name}/", programs.risks_from(each.lowest_risk)) for each in known]
    context = {
        "view": {"agents": agents, "tools": tools},
        "section": "tools",
        "tabs": tabs(mine, "tools", "agents"),
    }
    return render(request, "settings/agents.html", context)


@require_POST
def agent(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Switch an agent on or off."""
    mine = admin_request(request)
    with scope(mine.tenant.pk):
        switches.switch_agent(name, enabled=request.POST.get("enabled") == "1", actor=mine.actor, channel="page")
    return HttpResponseRedirect(f"/t/{slug}/settings/agents/")


@require_POST
def tool(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Switch a tool on or off, and raise its risk; never lower than its author set it."""
    mine = admin_request(request)
    wanted: dict[str, Any] = {"enabled": request.POST.get("enabled") == "1", "risk": request.POST.get("risk", "")}
    with scope(mine.tenant.pk):
        if wanted["risk"] == programs.tool(name, mine.member).lowest_risk:
            wanted["risk"] = ""
        switches.set_tool(name, actor=mine.actor, by=mine.member, channel="page", **wanted)
    return HttpResponseRedirect(f"/t/{slug}/settings/agents/#tools")
