"""The request page: read it, say that it is before you, comment."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST, require_safe

from approvals import acts
from approvals.pages.written import AnswerForm
from approvals.views import reading
from approvals.views.kinds import tenant_request
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope


@require_safe
def show(request: HttpRequest, slug: str, request_id: UUID) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """The question, or one part of its page."""
    mine = tenant_request(request)
    view = reading.view_of(mine, request_id)
    was = request.GET.get("version", "")
    return reading.page(mine, reading.changed_since(mine, request_id, was=was, view=view))


@require_POST
def viewed(request: HttpRequest, slug: str, request_id: UUID) -> HttpResponse:  # noqa: ARG001
    """The open page says that it is visible."""
    mine = tenant_request(request)
    acts.view(request_id, tenant=mine.tenant.pk, actor=mine.actor)
    return HttpResponse(status=204)


@require_POST
def comment(request: HttpRequest, slug: str, request_id: UUID) -> HttpResponse:
    """Say something beside the question."""
    mine = tenant_request(request)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    try:
        acts.comment(request_id, tenant=mine.tenant.pk, actor=mine.actor, text=text, channel="page")
    except Refusal as refusal:
        return _not_taken(mine, request_id, text, refusal)
    return HttpResponseRedirect(f"/t/{slug}/requests/{request_id}/#comments")


def _not_taken(request: TenantRequest, request_id: UUID, text: str, refusal: Refusal) -> HttpResponse:
    """The page again, with the comment as it was typed and what is wrong with it."""
    if refusal.status != 422:
        raise refusal
    form = AnswerForm(comment=text, comment_error=str(refusal.errors[0]["message"]))
    with scope(request.tenant.pk, read_only=True):
        return reading.page(request, reading.view_of(request, request_id), form=form, status=422)
