"""The tenant's stamp: a number that grows with every change of its rules, switches, members and settings."""

from django.db.models import F

from tenants.models import Tenant
from tenants.scope import current


def bump() -> None:
    """Let the stamp of the tenant in scope grow; what was cached under the former one is stale on commit."""
    Tenant.objects.filter(pk=current()).update(stamp=F("stamp") + 1)


def read() -> int:
    """The stamp of the tenant in scope."""
    return Tenant.objects.values_list("stamp", flat=True).get(pk=current())
