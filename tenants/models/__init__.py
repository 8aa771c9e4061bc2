"""The tables of the ground floor: who there is, what they may touch, and what is kept as proof."""

from tenants.models.agents import AgentAccess, AgentUserPermission, ToolSetting
from tenants.models.base import Tenant, TenantModel
from tenants.models.keys import ApiKey, Secret
from tenants.models.people import ROLES, Group, GroupMember, Member, Person
from tenants.models.proof import AuditContent, AuditEntry, AuditHead, Event, IdempotentAnswer

__all__ = [
    "ROLES",
    "AgentAccess",
    "AgentUserPermission",
    "ApiKey",
    "AuditContent",
    "AuditEntry",
    "AuditHead",
    "Event",
    "Group",
    "GroupMember",
    "IdempotentAnswer",
    "Member",
    "Person",
    "Secret",
    "Tenant",
    "TenantModel",
    "ToolSetting",
]
