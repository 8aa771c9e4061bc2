"""Keys for the API, and the tenant's own credentials for its tools."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from tenants.models.base import TenantModel
from tenants.models.people import Member


class ApiKey(TenantModel):
    """A key for the API. A service key acts for itself and can never decide; others act as their owner."""

    owner = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="keys", db_constraint=False)
    name = models.CharField(max_length=100)
    service = models.BooleanField(default=False)
    scopes = ArrayField(models.CharField(max_length=32))
    secret_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now())
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


class Secret(TenantModel):
    """A credential of the tenant for its tools, encrypted under FIELD_KEYS."""

    name = models.CharField(max_length=100)
    value = models.TextField()

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "name"], name="one_secret_a_name"),
        ]

    def __str__(self) -> str:
        return self.name
