"""The export of events for an admin who is signed in."""

from django.http import HttpResponseBase
from django.views.decorators.http import require_safe

from runs.api import exporting
from runs.listing import Wanted
from tenants import pages, streaming
from tenants.requests import TenantRequest


@require_safe
@pages.only("admin")
def events(request: TenantRequest, **_names: object) -> HttpResponseBase:
    """Every event of every run of the tenant, run by run."""
    rows = exporting.every(request.member, Wanted())
    form = streaming.form(request.GET.get("format", ""))
    return streaming.export(request, rows, name="events", form=form, columns=exporting.COLUMNS)
