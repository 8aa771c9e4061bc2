"""The export of requests for an admin who is signed in."""

from django.http import HttpResponseBase
from django.views.decorators.http import require_safe

from approvals.api import exporting, shapes
from approvals.queries import Filters
from tenants import pages, streaming
from tenants.requests import TenantRequest


@require_safe
@pages.only("admin")
def requests(request: TenantRequest, **_names: object) -> HttpResponseBase:
    """Every request of the tenant, oldest first."""
    rows = exporting.every(request.member, Filters())
    form = streaming.form(request.GET.get("format", ""))
    return streaming.export(rows, name="requests", form=form, columns=shapes.REQUEST)
