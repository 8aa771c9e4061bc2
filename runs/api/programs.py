"""Agents and tools over HTTP: as workers announced them, and as this tenant switches them."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from ninja import Query

from runs import programs, switches
from runs.api.program_schemas import (
    AgentChange,
    AgentOut,
    AgentPage,
    PermissionChange,
    PermittedOut,
    PermittedPage,
    ToolChange,
    ToolOut,
    ToolPage,
)  # fmt: skip
from runs.api.routing import router
from runs.api.schemas import PageQuery
from tenants import exact_json, wire
from tenants.bearer import demand
from tenants.frame import keys_items, once_for_item
from tenants.idempotency import Answer
from tenants.keys import Bearer
from tenants.paging import page
from tenants.requests import KeyRequest
from tenants.scope import scope

Shape = dict[str, Any]


@router.get("/agents", tags=["programs"], response=AgentPage, summary="List agents")
def list_agents(request: KeyRequest, query: Query[PageQuery]) -> Shape:
    """The agents switched on here; an admin also sees those that could be."""
    bearer = demand(request, "settings:read")
    found = page(programs.agents_seen(bearer.member), by=["agent"], cursor=query.cursor, limit=query.limit)
    told = programs.agents_told(row.agent for row in found.items)
    return found.answer(lambda row: asdict(told[row.agent]))


@router.get("/agents/{name}", tags=["programs"], response=AgentOut, summary="Read an agent")
def read_agent(request: KeyRequest, name: str) -> Shape:
    """One agent; one that is not switched on answers to admins only."""
    bearer = demand(request, "settings:read")
    return asdict(programs.agent(name, bearer.member))


@router.patch("/agents/{name}", tags=["programs"], response=AgentOut, summary="Switch or restrict an agent")
def change_agent(request: KeyRequest, name: str, body: AgentChange) -> Shape:
    """Off: no run of it starts here, and calls under way are refused. Restricted: roles need a permission too."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        switches.switch_agent(name, **body.model_dump(exclude_unset=True), actor=bearer.actor, channel="api")
        return asdict(programs.agent(name, bearer.member))


@router.get("/agents/{name}/permissions", tags=["programs"], response=PermittedPage, summary="List who may what")
def list_permissions(request: KeyRequest, name: str) -> Shape:
    """Every reviewer and manager, with what is permitted of the agent; it counts while the agent is restricted."""
    demand(request, "settings:read", "admin")
    return {"items": [asdict(each) for each in switches.everyone(name)]}


@router.put("/agents/{name}/permissions/{uuid:member}", tags=["programs"], response=PermittedOut, summary="Permit")
def change_permissions(request: KeyRequest, name: str, member: UUID, body: PermissionChange) -> Shape:
    """Let a member have exactly these permissions of the agent; an empty list takes all away."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        permissions = [str(each) for each in body.permissions]
        return asdict(
            switches.permit(name, member, permissions=permissions, actor=bearer.actor, channel="api")
        )  # fmt: skip


@router.post("/agents/{name}/stop", tags=["programs"], response=AgentOut, summary="Stop an agent")
@keys_items
def stop_agent(request: KeyRequest, name: str) -> Any:
    """No new run starts, and running ones pause; what is in hand ends and is recorded."""
    return _switched(request, name, stopped=True)


@router.post("/agents/{name}/start", tags=["programs"], response=AgentOut, summary="Start an agent again")
@keys_items
def start_agent(request: KeyRequest, name: str) -> Any:
    """Runs may start again, and those that the stop paused go on."""
    return _switched(request, name, stopped=False)


@router.get("/tools", tags=["programs"], response=ToolPage, summary="List tools")
def list_tools(request: KeyRequest, query: Query[PageQuery]) -> Shape:
    """The tools of the agents one sees, each as it was announced last."""
    bearer = demand(request, "settings:read")
    found = page(programs.tools_seen(bearer.member), by=["name"], cursor=query.cursor, limit=query.limit)
    told = {each.name: each for each in programs.tools_told(found.items)}
    return found.answer(lambda row: asdict(told[row.name]))


@router.get("/tools/{name}", tags=["programs"], response=ToolOut, summary="Read a tool")
def read_tool(request: KeyRequest, name: str) -> Shape:
    """One tool as it was announced last."""
    bearer = demand(request, "settings:read")
    return asdict(programs.tool(name, bearer.member))


@router.patch("/tools/{name}", tags=["programs"], response=ToolOut, summary="Switch a tool, or raise its risk")
def change_tool(request: KeyRequest, name: str, body: ToolChange) -> Shape:
    """`risk: null` gives the author's back; one below the author's is 422."""
    bearer = demand(request, "settings:write", "admin")
    risk = (body.risk or "") if "risk" in body.model_fields_set else None
    with scope(bearer.tenant):
        switches.set_tool(
            name, actor=bearer.actor, by=bearer.member, enabled=body.enabled, risk=risk, channel="api"
        )  # fmt: skip
        return asdict(programs.tool(name, bearer.member))


def _switched(request: KeyRequest, name: str, *, stopped: bool) -> Any:
    """The switch once under its key; then the runs, each in a transaction of its own."""
    bearer = demand(request, "runs:operate", "manager")
    turn = switches.stop if stopped else switches.start

    def work() -> Answer:
        turn(name, by=bearer.member, actor=bearer.actor, channel="api")
        return Answer(200, wire.text(_told(bearer, name)))

    answer = once_for_item(request, "switch", {"stopped": stopped}, work)
    switches.settle_runs(name, tenant=bearer.tenant, actor=bearer.actor, channel="api")
    return exact_json.loads(answer.body)


def _told(bearer: Bearer, name: str) -> Shape:
    return asdict(programs.agent(name, bearer.member))
