"""What a tenant settles for itself."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from tenants import audit, stamps
from tenants.actors import Actor
from tenants.founding import demand_locale, demand_timezone
from tenants.models import Tenant
from tenants.refusals import invalid
from tenants.scope import current

NAMES = (
    "name",
    "timezone",
    "locale",
    "retention_days",
    "second_factor",
    "initiators_may_review",
    "notifications",
)


def read() -> dict[str, Any]:
    """The settings of the tenant in scope."""
    tenant = Tenant.objects.get(pk=current())
    return {"slug": tenant.slug, **{name: getattr(tenant, name) for name in NAMES}}


def change(*, actor: Actor, channel: str = "", **changes: Any) -> dict[str, Any]:
    """Change settings of the tenant in scope; raises Refusal for a value that is none."""
    tenant = Tenant.objects.select_for_update().get(pk=current())
    if "locale" in changes:
        demand_locale(changes["locale"])
    if "timezone" in changes:
        demand_timezone(changes["timezone"])
    if changes.get("retention_days", 1) < 1:
        raise invalid(_("Finished runs are kept for at least one day."), code="retention_too_short")
    before = {name: getattr(tenant, name) for name in changes}
    for name, value in changes.items():
        setattr(tenant, name, value)
    tenant.save(update_fields=list(changes))
    stamps.bump()
    detail = {"before": before, "after": changes}
    audit.record("settings.changed", actor=actor, target=f"tenant:{tenant.pk}", detail=detail, channel=channel)
    return read()
