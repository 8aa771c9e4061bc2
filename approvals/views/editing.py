"""The edit page: every parameter in a field of its kind, and the difference in three columns before it is sent."""

from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from approvals import clock, edits, forms
from approvals.edits import Proposal
from approvals.facts import Facts
from approvals.pages import answering, editor, question, values
from approvals.pages.written import AnswerForm
from approvals.views import reading
from approvals.views.kinds import tenant_request
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope


@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest, slug: str, request_id: UUID) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """The form with the values that stand, hidden characters taken out of it; posted, what they would change.

    A POST here decides nothing and writes nothing: it carries what was typed.
    """
    mine = tenant_request(request)
    if request.method == "POST":
        with scope(mine.tenant.pk, read_only=True):
            return _form(mine, request_id)
    return _form(mine, request_id)


def _form(request: TenantRequest, request_id: UUID) -> HttpResponse:
    view = reading.view_of(request, request_id)
    if view.state == "open" and "edit" in view.answers:
        return page(request, request_id)
    if request.method == "POST" and "HX-Request" in request.headers:
        # The page looks by itself while somebody types, also just after they have sent it: nobody was refused anything.
        return reading.uncached(HttpResponse(status=204))
    context = {"view": view, "form": AnswerForm(), "section": "inbox"}
    return reading.uncached(render(request, "requests/no_edit.html", context, status=409))


def page(request: TenantRequest, request_id: UUID, *, refusal: Refusal | None = None) -> HttpResponse:
    """The edit page, with what was typed and what that changes where something was; inside a scope."""
    found, names, reader = reading.read(request, request_id)
    view = question.build(found, names, reader)
    read = _version(request, found)
    compared = request.method == "POST"
    proposal = _proposal(request, found, read) if compared and refusal is None else None
    made = proposal if isinstance(proposal, Proposal) else None
    said = proposal if isinstance(proposal, Refusal) else refusal
    edit = editor.build(
        found,
        request.POST.dict(),
        editor.wrong(said.errors, found) if said and said.code != "nothing_changed" else {},
        lapses=[vote.name for vote in view.votes if not vote.you],
        read=read,
        proposal=made,
        rules=answering.rule_lines(made.requirement, names, reader) if made else (),
        compared=compared,
    )
    context = {"view": replace(view, edit=edit), "section": "inbox", "part": "HX-Request" in request.headers}
    status = refusal.status if refusal else 200
    return reading.uncached(render(request, "requests/edit.html", context, status=status))


def _version(request: TenantRequest, found: Facts) -> int:
    """The version on the reader's screen."""
    read = forms.version(request.POST) or found.request.version
    return read if 0 < read < found.request.version else found.request.version


def _proposal(request: TenantRequest, found: Facts, read: int) -> Proposal | Refusal | None:
    """What the edit would make; nothing of a version that does not stand any more, for it is not taken."""
    if read != found.request.version:
        return None
    current = values.values_of(found.version.arguments)
    typed = forms.edited(request.POST, current=current, schema=found.request.definition.get("parameters", {}))
    return edits.proposed(found.request, found.version, found.requirement, typed, now=clock.now())
