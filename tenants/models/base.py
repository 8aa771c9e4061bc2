"""The tenant, and what every row of one has in common."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from tenants import ids
from tenants.fields import ExactJSONField


class Tenant(models.Model):
    """An organisation, and what it has settled for itself."""

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    timezone = models.CharField(max_length=64, default="UTC")
    locale = models.CharField(max_length=16, default="en")
    initiators_may_review = models.BooleanField(default=False)
    second_factor = models.BooleanField(default=False)
    retention_days = models.PositiveIntegerField(default=365)
    notifications = ExactJSONField(default=dict)
    stamp = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name


class TenantModel(models.Model):
    """A row of one tenant. Its migration adds `EnableTenantRLS`, and a `CompositeForeignKey` a reference.

    The tenant's own reference is not checked by PostgreSQL: row security says which tenant it is already, a
    tenant is never deleted, and a check would be a query more for each row that is written.

    A subclass with constraints of its own lists these too: `[*TenantModel.Meta.constraints, …]`.
    """

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)

    class Meta:
        abstract = True
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["tenant", "id"], name="%(app_label)s_%(class)s_in_tenant")
        ]
