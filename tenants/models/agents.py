"""What a tenant has settled about agents and tools: switched on, restricted, riskier."""

from typing import Any, ClassVar

from django.contrib.auth.models import Permission
from django.db import models
from django.db.models.functions import Now
from guardian.models import UserObjectPermissionBase

from tenants import ids
from tenants.models.base import Tenant, TenantModel
from tenants.models.people import Person


class AgentAccess(TenantModel):
    """An agent that an admin of the tenant has switched on, and who besides its roles may touch it.

    `restricted` demands the object permission on top of the role; `stopped` lets no new run start.
    """

    agent = models.CharField(max_length=200)
    enabled = models.BooleanField(default=True)
    restricted = models.BooleanField(default=False)
    stopped = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        default_permissions = ()
        permissions = (
            ("view_runs", "See the agent's runs"),
            ("operate_runs", "Operate the agent's runs"),
            ("review", "Answer the agent's requests"),
        )
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "agent"], name="one_access_an_agent"),
        ]

    def __str__(self) -> str:
        return self.agent


class AgentUserPermission(UserObjectPermissionBase):
    """What one person may do with one restricted agent; django-guardian's direct model with a tenant."""

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    user = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    permission = models.ForeignKey(Permission, on_delete=models.CASCADE)
    content_object = models.ForeignKey(AgentAccess, on_delete=models.CASCADE, db_constraint=False)

    class Meta:
        unique_together = (("tenant", "user", "permission", "content_object"), ("tenant", "id"))

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save it in the tenant of the agent's access, whatever the caller set."""
        self.tenant_id = self.content_object.tenant_id
        super().save(*args, **kwargs)


class ToolSetting(TenantModel):
    """What a tenant has settled about a tool: switched off, or riskier than its code says."""

    tool = models.CharField(max_length=200)
    enabled = models.BooleanField(default=True)
    risk = models.CharField(max_length=16, blank=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "tool"], name="one_setting_a_tool"),
        ]

    def __str__(self) -> str:
        return self.tool
