"""The request as the tenant's middleware made it; for the type checker, which cannot see that."""

from typing import cast

from django.http import HttpRequest

from tenants.requests import TenantRequest


def tenant_request(request: HttpRequest) -> TenantRequest:
    """The same request, known to carry tenant, member and actor."""
    return cast("TenantRequest", request)
