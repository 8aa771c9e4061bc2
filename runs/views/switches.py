"""The page of agents and tools: an admin switches them and raises risks, a manager stops and starts agents."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from runs import access, announcing, programs, switches
from runs.programs import KnownTool, Program
from tenants import pages
from tenants.paging import MAX_LIMIT
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

HERE = "settings/agents/"


@dataclass(frozen=True)
class AgentLine:
    """One agent, and which of its buttons the reader has."""

    name: str
    version: str
    model: str
    enabled: bool
    restricted: bool
    stopped: bool
    live: bool
    unheard: datetime | None
    """When a worker that knows it was last heard of, if it ought to have been heard of again since."""
    tools: Sequence[str]
    url: str
    may_stop: bool


@dataclass(frozen=True)
class ToolLine:
    """One tool; `own_risk` is the tenant's, or what was just typed."""

    name: str
    title: str
    effect: str
    risk: str
    own_risk: str
    counts: str
    enabled: bool
    risks: Sequence[str]
    url: str
    error: str = ""


@dataclass(frozen=True)
class SwitchView:
    """All agents and tools the reader sees."""

    agents: Sequence[AgentLine]
    tools: Sequence[ToolLine]
    may_switch: bool
    problem: str = ""


@dataclass(frozen=True)
class Typed:
    """What was sent about a tool and refused."""

    tool: str
    risk: str
    enabled: bool
    error: str


@require_safe
@pages.only("admin", "manager")
def every(request: TenantRequest, **_names: object) -> HttpResponse:
    """The agents and tools."""
    return _page(request)


@require_POST
@pages.only("admin")
def agent(request: TenantRequest, name: str, **_names: object) -> HttpResponse:
    """Switch an agent on or off."""
    enabled = request.POST.get("enabled") == "1"
    try:
        with scope(request.tenant.pk):
            switches.switch_agent(name, enabled=enabled, actor=request.actor, channel="page")
    except Refusal as refusal:
        return _page(request, status=pages.refused(request, refusal), problem=str(refusal.detail))
    return pages.done(request, HERE, _("%(name)s is on.") % {"name": name} if enabled else _off(name))


@require_POST
@pages.only("manager")
def stop(request: TenantRequest, name: str, **_names: object) -> HttpResponse:
    """Let no new run start, and pause those that are under way."""

    def turn() -> None:
        switches.stop(name, by=request.member, actor=request.actor, channel="page")

    return _turned(request, name, turn, _("%(name)s is stopped. Its runs are paused; what is in hand ends."))


@require_POST
@pages.only("manager")
def start(request: TenantRequest, name: str, **_names: object) -> HttpResponse:
    """Let runs start again, and resume those that the stop paused."""

    def turn() -> None:
        switches.start(name, by=request.member, actor=request.actor, channel="page")

    return _turned(request, name, turn, _("%(name)s is started again. What the stop paused goes on."))


@require_POST
@pages.only("admin")
def tool(request: TenantRequest, name: str, **_names: object) -> HttpResponse:
    """Switch a tool, or raise its risk."""
    enabled, risk = request.POST.get("enabled") == "1", request.POST.get("risk", "")
    try:
        with scope(request.tenant.pk):
            switches.set_tool(
                name, actor=request.actor, by=request.member, enabled=enabled, risk=risk, channel="page"
            )  # fmt: skip
    except Refusal as refusal:
        status = pages.refused(request, refusal)
        typed = Typed(name, risk, enabled, str(refusal.detail))
        return _page(request, status=status, problem=str(refusal.detail), typed=typed)
    return pages.done(request, HERE, _("Saved: %(name)s.") % {"name": name})


def _off(name: str) -> str:
    return _("%(name)s is off: no run of it starts here.") % {"name": name}


def _turned(request: TenantRequest, name: str, turn: Callable[[], None], said: str) -> HttpResponse:
    try:
        with scope(request.tenant.pk):
            turn()
    except Refusal as refusal:
        return _page(request, status=pages.refused(request, refusal), problem=str(refusal.detail))
    switches.settle_runs(name, tenant=request.tenant.pk, actor=request.actor, channel="page")
    return pages.done(request, HERE, said % {"name": name})


def _page(request: TenantRequest, *, status: int = 200, problem: str = "", typed: Typed | None = None) -> HttpResponse:
    with pages.read(request):
        view = _view(request, problem, typed)
    return pages.page(request, "settings/agents.html", {"view": view}, section="tools", here=HERE, status=status)


def _view(request: TenantRequest, problem: str, typed: Typed | None) -> SwitchView:
    member, base = request.member, pages.base(request)
    names = [row.agent for row in programs.agents_seen(member)[:MAX_LIMIT]]
    barred = access.barred(member, "operate_runs")
    told = programs.agents_told(names)
    tools = programs.tools_told(programs.tools_seen(member).order_by("name")[:MAX_LIMIT])
    return SwitchView(
        agents=[
            _agent(told[name], f"{base}{HERE}{name}/", may_stop=member.has("manager") and name not in barred)
            for name in names
        ],
        tools=[_tool(each, base, typed) for each in tools],
        may_switch=member.has("admin"),
        problem=problem,
    )


def _agent(program: Program, url: str, *, may_stop: bool) -> AgentLine:
    until = program.seen_until
    return AgentLine(
        name=program.name,
        version=program.versions[0] if program.versions else "",
        model=program.model,
        enabled=program.enabled,
        restricted=program.restricted,
        stopped=program.stopped,
        live=program.live,
        unheard=announcing.unheard_since(until, now=timezone.now()) if until else None,
        tools=program.tools,
        url=url,
        may_stop=may_stop and program.enabled,
    )


def _tool(known: KnownTool, base: str, typed: Typed | None) -> ToolLine:
    mine = typed if typed and typed.tool == known.name else None
    return ToolLine(
        name=known.name,
        title=known.title,
        effect=known.effect,
        risk=known.lowest_risk,
        own_risk=mine.risk if mine else known.own_risk,
        counts=known.risk,
        enabled=mine.enabled if mine else known.enabled,
        risks=programs.risks_from(known.lowest_risk),
        url=f"{base}settings/tools/{known.name}/",
        error=mine.error if mine else "",
    )
