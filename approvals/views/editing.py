"""The edit page: every parameter in a field of its kind, and the difference in three columns."""

from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from approvals.pages import editor, question
from approvals.pages.written import AnswerForm
from approvals.views import reading
from approvals.views.kinds import tenant_request
from tenants.refusals import Refusal
from tenants.requests import TenantRequest


@require_safe
def show(request: HttpRequest, slug: str, request_id: UUID) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """The form with the values that stand; hidden characters are taken out of it."""
    mine = tenant_request(request)
    view = reading.view_of(mine, request_id)
    if view.state == "open" and "edit" in view.answers:
        return page(mine, request_id)
    context = {"view": view, "form": AnswerForm(), "section": "inbox"}
    return reading.uncached(render(request, "requests/no_edit.html", context, status=409))


def page(request: TenantRequest, request_id: UUID, *, refusal: Refusal | None = None) -> HttpResponse:
    """The edit page, after a refusal with what was typed; inside a scope."""
    found, names, reader = reading.read(request, request_id)
    view = question.build(found, names, reader)
    wrong = editor.wrong(refusal.errors, found) if refusal else {}
    lapses = [vote.name for vote in view.votes if not vote.you]
    edit = editor.build(found, request.POST.dict(), wrong, lapses=lapses)
    context = {"view": replace(view, edit=edit), "section": "inbox"}
    status = refusal.status if refusal else 200
    return reading.uncached(render(request, "requests/edit.html", context, status=status))
