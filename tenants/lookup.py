"""From a slug that a person typed in a shell to the tenant."""

from django.core.management.base import CommandError

from tenants.models import Tenant


def tenant_named(slug: str) -> Tenant:
    """The tenant with this slug; raises CommandError with a sentence where there is none."""
    found = Tenant.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no tenant {slug!r}. Make it with: python manage.py create_tenant {slug}")
    return found
