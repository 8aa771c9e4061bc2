"""How a tenant comes to be, with the first rows that each floor wants in it."""

from collections.abc import Callable
from zoneinfo import available_timezones

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from tenants import audit
from tenants.actors import Actor
from tenants.models import Tenant
from tenants.refusals import invalid
from tenants.scope import scope

FIRST_ROWS: list[Callable[[], None]] = []
"""What each floor writes into a new tenant, in its scope and in the transaction that makes it."""


def found(slug: str, *, actor: Actor, name: str = "", timezone: str = "UTC", locale: str = "en") -> Tenant:
    """Make the tenant with this slug; raises Refusal where the slug is taken or a value is unknown."""
    demand_locale(locale)
    demand_timezone(timezone)
    if Tenant.objects.filter(slug=slug).exists():
        raise invalid(_("There is already a tenant with this slug."), code="slug_taken")
    tenant = Tenant(slug=slug, name=name or slug, timezone=timezone, locale=locale)
    with scope(tenant.pk):
        tenant.save(force_insert=True)
        for write in FIRST_ROWS:
            write()
        audit.record(
            "tenant.created",
            actor=actor,
            target=f"tenant:{tenant.pk}",
            detail={"slug": slug, "name": tenant.name},
            channel=actor.kind,
        )
    return tenant


def demand_locale(locale: str) -> None:
    """Raise Refusal unless this language is one the pages speak."""
    if locale not in dict(settings.LANGUAGES):
        raise invalid(_("This language is not one of those offered."), code="unknown_locale")


def demand_timezone(timezone: str) -> None:
    """Raise Refusal unless this is the name of a time zone, such as `Europe/Berlin`."""
    if timezone not in available_timezones():
        raise invalid(_("This is not the name of a time zone."), code="unknown_timezone")
