"""What is taken away whole by somebody who is signed in: the record of a run, and the export of events."""

from django.http import HttpResponseBase
from django.views.decorators.http import require_safe

from runs.api import exporting, proving
from runs.listing import Wanted
from tenants import ids, pages, streaming
from tenants.requests import TenantRequest


@require_safe
def proof(request: TenantRequest, run_id: str, **_names: object) -> HttpResponseBase:
    """The whole record of a run: all of it for an admin, else what the reader may read elsewhere."""
    reader = proving.Reader(member=request.member, actor=request.actor, whole=request.member.has("admin"))
    return proving.download(ids.parse(run_id), reader)


@require_safe
@pages.only("admin")
def events(request: TenantRequest, **_names: object) -> HttpResponseBase:
    """Every event of every run of the tenant, run by run."""
    rows = exporting.every(request.member, Wanted())
    form = streaming.form(request.GET.get("format", ""))
    return streaming.export(rows, name="events", form=form, columns=exporting.COLUMNS)
