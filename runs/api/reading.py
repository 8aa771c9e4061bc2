"""GET of runs, their steps and their payloads."""

from typing import Any
from uuid import UUID

from django.http import FileResponse, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from ninja import Query

from runs import access, listing, payloads, telling
from runs.api.answers import run_answer, step_answer
from runs.api.routing import router
from runs.api.schemas import PageQuery, RunFilters, RunOut, RunPage, RunsQuery, StepPage
from runs.listing import Wanted
from runs.models import Payload, Run
from runs.states import RUN
from tenants import ids, members
from tenants.bearer import demand
from tenants.models import Member
from tenants.paging import page
from tenants.refusals import invalid, not_found
from tenants.requests import KeyRequest


@router.get("/runs", response=RunPage, summary="List runs")
def list_runs(request: KeyRequest, query: Query[RunsQuery]) -> dict[str, Any]:
    """The runs this key's owner may read, newest first."""
    bearer = demand(request, "runs:read")
    found = listing.runs(bearer.member, wanted(query, bearer.member), cursor=query.cursor, limit=query.limit)
    brief = telling.brief(found.items, texts=True)
    return found.answer(lambda run: run_answer(run, brief))


@router.get("/runs/{run_id}", response=RunOut, summary="Read a run")
def read_run(request: KeyRequest, run_id: str) -> dict[str, Any]:
    """One run as its list tells it, with what it waits for and what it has used."""
    bearer = demand(request, "runs:read")
    return told(access.found(bearer.member, ids.parse(run_id)))


@router.get("/runs/{run_id}/steps", response=StepPage, summary="List the steps of a run")
def list_steps(request: KeyRequest, run_id: str, query: Query[PageQuery]) -> dict[str, Any]:
    """The steps of a run in their order, each with its attempts."""
    bearer = demand(request, "runs:read")
    run = access.found(bearer.member, ids.parse(run_id))
    found = page(telling.steps_of(run.id), by=["seq"], cursor=query.cursor, limit=query.limit)
    detail = telling.detail(run, found.items)
    settled = telling.settled(run.id)
    return found.answer(lambda step: step_answer(step, detail, settled))


@router.get("/payloads/{payload_id}", response={200: bytes}, summary="Download a large value")
def read_payload(request: KeyRequest, payload_id: str) -> HttpResponseBase:
    """A large value, whole, with its media type."""
    bearer = demand(request, "runs:read")
    return download(bearer.member, ids.parse(payload_id))


def download(member: Member, payload_id: UUID | None) -> HttpResponseBase:
    """A payload of a run that this member may read, as an attachment; Refusal 404 else."""
    found = Payload.objects.filter(id=payload_id).first() if payload_id else None
    if found is None or not access.may_view(member, found.run_id):
        raise not_found(_("There is no such payload."))
    name = f"{found.id}.{'json' if found.media_type == 'application/json' else 'bin'}"
    try:
        content = payloads.content_of(found)
    except payloads.Missing:
        raise not_found(_("The storage no longer has this payload."), code="payload_gone") from None
    return FileResponse(content, as_attachment=True, filename=name, content_type=found.media_type)


def wanted(query: RunFilters, member: Member) -> Wanted:
    """The filters, checked: Refusal 422 for a state, a kind of waiting or a member that does not exist."""
    return Wanted(
        status=_states(query.status),
        agent=query.agent,
        label=query.label,
        waiting_on=_waiting_on(query.waiting_on, member),
        since=query.since,
    )


def told(run: Run) -> dict[str, Any]:
    """The run as the API answers it."""
    return run_answer(run, telling.brief([run], texts=True))


def _states(text: str) -> str:
    unknown = {each.strip() for each in text.split(",") if each.strip()} - RUN.states - {listing.OPEN}
    if unknown:
        message = _("There is no such state: %(names)s.") % {"names": ", ".join(sorted(unknown))}
        raise invalid(message, errors=[{"field": "status", "message": message}])
    return text


def _waiting_on(text: str, member: Member) -> str:
    if not text or text in listing.KINDS:
        return text
    if text == "me":
        return str(member.id)
    if "@" in text:
        return str(members.by_email(text).id)
    found = ids.parse(text)
    if found is None:
        message = _("This names neither a kind of waiting nor a member.")
        raise invalid(message, errors=[{"field": "waiting_on", "message": message}])
    return str(found)
