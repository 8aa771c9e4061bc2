"""The shapes of the API about agents and tools: what they are, who may what with them, how they are switched."""

from typing import Any, Literal, Self
from uuid import UUID

from ninja import Schema
from pydantic import model_validator

from runs.api.schemas import Strict

Permission = Literal["view_runs", "operate_runs", "review"]


class AgentOut(Schema):
    """An agent as the workers announced it and the tenant switched it."""

    name: str
    enabled: bool
    restricted: bool
    stopped: bool
    versions: list[str]
    tools: list[str]
    live: bool


class AgentChange(Strict):
    """Whether the tenant has the agent switched on, and whether its roles need a permission of their own."""

    enabled: bool = False
    restricted: bool = False

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("Say enabled, restricted, or both.")
        return self


class PermissionChange(Strict):
    """What a member may do with a restricted agent: these, and no other."""

    permissions: list[Permission]


class PermittedOut(Schema):
    """A member and what is permitted of the agent."""

    member: UUID
    name: str
    email: str
    roles: list[str]
    permissions: list[Permission]


class PermittedPage(Schema):
    """Every reviewer and manager, by name."""

    items: list[PermittedOut]
    next: str | None = None


class ToolChange(Strict):
    """What a tenant settles about a tool; what is left out stays as it is."""

    enabled: bool | None = None
    risk: str | None = None


class AgentPage(Schema):
    """The agents known here."""

    items: list[AgentOut]
    next: str | None


class ToolOut(Schema):
    """A tool as the workers announced it; `risk` is the tenant's where it is higher than the tool's own."""

    name: str
    title: str
    description: str
    version: str
    effect: str
    risk: str
    lowest_risk: str
    enabled: bool
    fingerprint: str
    parameters: dict[str, Any]
    sensitive: list[str]
    undo: str | None


class ToolPage(Schema):
    """The tools known here."""

    items: list[ToolOut]
    next: str | None
