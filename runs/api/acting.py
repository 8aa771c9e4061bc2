"""POST to runs: start one, stop it, move it on, settle what is unknown, say something."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from ninja import Status

from runs import access, commands
from runs.api.reading import told
from runs.api.routing import router
from runs.api.schemas import CommentIn, ResumeIn, RunIn, RunOut, SettleIn, StopIn
from runs.commands import Start
from runs.models import Run
from tenants import exact_json, ids, members
from tenants.bearer import demand
from tenants.keys import Bearer
from tenants.refusals import forbidden
from tenants.requests import KeyRequest
from tenants.scope import scope


@router.post("/runs", response={201: RunOut}, summary="Start a run")
def start(request: KeyRequest, body: RunIn) -> Status[dict[str, Any]]:
    """Queue a run of an agent that is switched on here; it lives on its own from then on."""
    bearer = demand(request, "runs:start")
    with scope(bearer.tenant):
        return Status(201, told(commands.start(_wanted(body), actor=bearer.actor, channel="api")))


@router.post("/runs/{run_id}/cancel", response=RunOut, summary="Stop further steps")
def cancel(request: KeyRequest, run_id: str, body: StopIn | None = None) -> dict[str, Any]:
    """End the run: nothing more starts, its questions close; what is in hand ends and is recorded."""
    bearer = demand(request, "runs:operate")
    comment = body.comment if body else ""
    with scope(bearer.tenant):
        run = _stoppable(bearer, run_id)
        return told(commands.cancel(run.id, actor=bearer.actor, comment=comment, channel="api"))


@router.post("/runs/{run_id}/pause", response=RunOut, summary="Pause a run")
def pause(request: KeyRequest, run_id: str, body: StopIn | None = None) -> dict[str, Any]:
    """Start nothing more until it is resumed; questions stay open and deadlines run on."""
    bearer = demand(request, "runs:operate")
    comment = body.comment if body else ""
    with scope(bearer.tenant):
        run = _operable(bearer, run_id)
        return told(commands.pause(run.id, actor=bearer.actor, comment=comment, channel="api"))


@router.post("/runs/{run_id}/resume", response=RunOut, summary="Resume a run")
def resume(request: KeyRequest, run_id: str, body: ResumeIn | None = None) -> dict[str, Any]:
    """Go on after a pause, or try once more where a person had to look; a used-up budget wants a new one."""
    bearer = demand(request, "runs:operate")
    budget = body.budget.model_dump(exclude_none=True) if body and body.budget else None
    with scope(bearer.tenant):
        run = _operable(bearer, run_id)
        return told(commands.resume(run.id, actor=bearer.actor, budget=budget, channel="api"))


@router.post("/runs/{run_id}/retry", response=RunOut, summary="Retry a failed run")
def retry(request: KeyRequest, run_id: str) -> dict[str, Any]:
    """Try again exactly the steps that failed the run; nothing that was done is done twice."""
    bearer = demand(request, "runs:operate")
    with scope(bearer.tenant):
        run = _operable(bearer, run_id)
        return told(commands.retry(run.id, actor=bearer.actor, channel="api"))


@router.post("/runs/{run_id}/comments", response={201: RunOut}, summary="Comment on a run")
def comment(request: KeyRequest, run_id: str, body: CommentIn) -> Status[dict[str, Any]]:
    """Say something beside the run; people read it, the agent does not."""
    bearer = demand(request, "runs:operate")
    with scope(bearer.tenant):
        run = _seen(bearer, run_id)
        return Status(201, told(commands.comment(run.id, text=body.text, actor=bearer.actor, channel="api")))


@router.post("/runs/{run_id}/steps/{seq}/outcome", response=RunOut, summary="Settle an unknown outcome")
def settle(request: KeyRequest, run_id: str, seq: int, body: SettleIn) -> dict[str, Any]:
    """Say what came of a call whose answer never came. Managers only, never the run's initiators."""
    bearer = demand(request, "runs:operate")
    result = exact_json.dumps(body.result) if "result" in body.model_fields_set else ""
    with scope(bearer.tenant):
        run = _operable(bearer, run_id)
        settled = commands.settle(
            run.id, seq, outcome=body.outcome, result=result, note=body.note, actor=bearer.actor, channel="api"
        )
        return told(settled)


def _seen(bearer: Bearer, run_id: str) -> Run:
    return access.found(bearer.member, ids.parse(run_id))


def _stoppable(bearer: Bearer, run_id: str) -> Run:
    run = _seen(bearer, run_id)
    if not access.may_cancel(bearer.member, run):
        raise forbidden(_("Only a manager or whoever started the run can stop it."))
    return run


def _operable(bearer: Bearer, run_id: str) -> Run:
    run = _seen(bearer, run_id)
    access.demand_operate(bearer.member, run)
    return run


def _wanted(body: RunIn) -> Start:
    return Start(
        agent=body.agent,
        input=exact_json.dumps(body.input),
        title=body.title,
        version=body.version or "",
        deadline=body.deadline,
        on_behalf_of=_member(body.on_behalf_of),
        labels=body.labels,
    )


def _member(text: str | None) -> UUID | None:
    if not text:
        return None
    found = ids.parse(text)
    return members.member(found).id if found else members.by_email(text).id
