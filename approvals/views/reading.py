"""What every view of a request reads first, and the page it answers with."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render

from approvals import clock, facts, queries, topics
from approvals.display import shown
from approvals.facts import Facts
from approvals.pages import question, values
from approvals.pages.parts import Changed
from approvals.pages.question import RequestView
from approvals.pages.reader import Reader
from approvals.pages.written import AnswerForm
from approvals.rosters import Roster, roster
from approvals.views import positions
from tenants.requests import TenantRequest

PARTS = ("status", "answer", "asked")


def reader_of(request: TenantRequest) -> Reader:
    """Who reads this page."""
    return Reader(
        member=request.member,
        base=f"/t/{request.tenant.slug}/",
        now=clock.now(),
        wants_factor=request.tenant.second_factor,
    )


def read(request: TenantRequest, request_id: UUID) -> tuple[Facts, Roster, Reader]:
    """The facts of a request the reader may see; raises Refusal 404."""
    told = topics.last_told(request_id)  # First: of what is told while the rest is read, the page is to hear.
    row = queries.one(request.member, request_id)
    names = roster()
    return facts.of_one(row, names), names, replace(reader_of(request), told=told)


def view_of(request: TenantRequest, request_id: UUID, **changes: Any) -> RequestView:
    """The request's view-model for this reader; inside a scope."""
    found, names, reader = read(request, request_id)
    place = positions.of(request.member, request_id, reader)
    return replace(question.build(found, names, reader, position=place), **changes)


def changed(found: Facts, names: Roster, *, was: int) -> Changed:
    """What became of version `was`, which somebody still reads."""
    version, before = found.version, found.versions[was - 1]
    return Changed(
        by=names.name(version.edited_by_id),
        at=version.created_at,
        version=version.number,
        was_version=was,
        differences=values.between(before.arguments, version.arguments, found.request.definition),
        comment=shown(version.comment) if version.comment else None,
    )


def changed_since(request: TenantRequest, request_id: UUID, *, was: str, view: RequestView) -> RequestView:
    """The view for a page that shows version `was`; itself where that is the version that stands."""
    if not was.isdecimal() or not 0 < int(was) < view.version:
        return view
    found, names, _reader = read(request, request_id)
    return replace(view, changed=changed(found, names, was=int(was)))


def page(
    request: TenantRequest, view: RequestView, *, form: AnswerForm | None = None, status: int = 200
) -> HttpResponse:
    """The request's whole page, or the part that was asked for."""
    part = request.GET.get("part", "")
    template = "requests/request.html" + (f"#{part}" if part in PARTS else "")
    context = {"view": view, "form": form or AnswerForm(), "section": "inbox"}
    return uncached(render(request, template, context, status=status))


def uncached(response: HttpResponse) -> HttpResponse:
    """No browser keeps a state of a question: Back shows what is."""
    response["Cache-Control"] = "no-store"
    return response
