"""The answer form is posted: decided, or the whole page again with what stands in the way."""

from datetime import UTC, datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from approvals import decisions, factors, facts, forms, queries
from approvals.models import Review
from approvals.pages import values
from approvals.pages.parts import Changed, Lost
from approvals.rosters import roster
from approvals.views import confirming, editing, reading
from approvals.views.kinds import tenant_request
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope


@require_POST
def decide(request: HttpRequest, slug: str, request_id: UUID) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """Give the answer the form holds."""
    mine = tenant_request(request)
    with scope(mine.tenant.pk, read_only=True):
        posted = _posted(mine, request_id)
        fresh = factors.proved(mine)
    try:
        decisions.decide(
            request_id,
            tenant=mine.tenant.pk,
            actor=mine.actor,
            channel="page",
            fresh_factor=fresh,
            **posted.as_answer(),
        )
    except Refusal as refusal:
        mine.refusal = refusal
        return _refused(mine, request_id, posted, refusal)
    return _back(mine, request_id)


def _posted(request: TenantRequest, request_id: UUID) -> forms.Posted:
    row = queries.one(request.member, request_id)
    read = forms.version(request.POST) or row.version
    found = row.versions.filter(number__in={row.version, read})
    every = {version.number: values.values_of(version.arguments) for version in found}
    current, schema = every[row.version], row.definition.get("parameters", {})
    edited_of = every.get(read, current)
    return forms.read(request.POST, current=current, schema=schema, edited_of=edited_of)


def _refused(request: TenantRequest, request_id: UUID, posted: forms.Posted, refusal: Refusal) -> HttpResponse:
    if refusal.status == 404:
        raise refusal
    with scope(request.tenant.pk, read_only=True):
        if refusal.status == 409 and _said_so_already(request, request_id, posted):
            return _back(request, request_id)
        if refusal.challenge:
            return confirming.page(request, request_id, error=factors.error(request))
        if posted.decision == "edit" and refusal.status == 422:
            return editing.page(request, request_id, refusal=refusal)
        view = reading.view_of(request, request_id, **_told(request, request_id, posted, refusal))
        form = forms.kept(request.POST, refusal, typed=posted.typed)
        return reading.page(request, view, form=form, status=refusal.status)


def _said_so_already(request: TenantRequest, request_id: UUID, posted: forms.Posted) -> bool:
    """A double click: this person's same answer to this version is in, so the page just shows it."""
    if posted.version is None:
        return False
    version = posted.version + (1 if posted.decision == "edit" else 0)
    given = Review.objects.filter(request=request_id, member=request.member, version=version)
    return given.filter(decision=posted.decision).exists()


def _told(
    request: TenantRequest, request_id: UUID, posted: forms.Posted, refusal: Refusal
) -> dict[str, Lost | Changed]:
    """What the page says about an answer that came too late."""
    names = roster()
    found = facts.of_one(queries.one(request.member, request_id), names)
    if refusal.code == "changed" and posted.version and posted.version < found.request.version:
        return {"changed": reading.changed(found, names, was=posted.version)}
    if refusal.status == 409 and found.request.decided_at:
        now = datetime.now(UTC)
        late = max(int((now - found.request.decided_at).total_seconds()), 0)
        return {"lost": Lost(posted.decision, now, seconds=late)}
    return {}


def _back(request: TenantRequest, request_id: UUID) -> HttpResponse:
    return HttpResponseRedirect(f"/t/{request.tenant.slug}/requests/{request_id}/")
