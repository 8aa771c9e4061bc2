"""What people do to a run; each is part of the caller's scope: lock, state, event, audit, then a hint to the workers.

Who may is asked before, of `runs.access`; what the run's state and its initiators allow is asked here, under the lock.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import F, Max
from django.utils.translation import gettext_lazy as _

from runs import outcomes, states, validation
from runs.command import Command, command
from runs.models import Run, Step
from runs.starting import Start, person, start
from tenants import agents, audit, events
from tenants.actors import Actor
from tenants.audit_names import Action
from tenants.models import Event
from tenants.refusals import Refusal, forbidden, invalid, not_found

__all__ = ["Start", "cancel", "comment", "pause", "person", "resume", "retry", "settle", "start"]


def cancel(run_id: UUID, *, actor: Actor, comment: str = "", channel: str = "") -> Run:
    """Stop for good. What is in hand ends and is recorded; the event names it. Refusal 404, 409."""
    door = _door(run_id, actor)
    _demand(door, states.UNFINISHED, _("The run is over; there is nothing left to stop."))
    door.move(states.CANCELLED, message=_remark(comment))
    return _done(door, "run.cancelled", channel, comment=comment)


def pause(run_id: UUID, *, actor: Actor, comment: str = "", channel: str = "") -> Run:
    """Start nothing more until resumed. Refusal 404, 409."""
    door = _door(run_id, actor)
    _demand(door, states.UNFINISHED - {states.PAUSED}, _("Only a run that is not over and not paused can be paused."))
    door.move(states.PAUSED, message=_remark(comment))
    return _done(door, "run.paused", channel, comment=comment)


def resume(run_id: UUID, *, actor: Actor, budget: Mapping[str, Any] | None = None, channel: str = "") -> Run:
    """Queue a paused run, or one that needs attention for `permission`, `crash_loop`, or `budget` (with a budget).

    Refusal 404, 409 (also: outcomes to settle first, no worker knows the version, the agent is stopped), 422.
    """
    door = _door(run_id, actor)
    _demand(door, {states.PAUSED, states.ATTENTION}, _("The run is neither paused nor waiting for attention."))
    reason = door.run.reason if door.run.status == states.ATTENTION else ""
    _demand_way_out(door, reason, budget)
    if budget:
        door.run.budget = {**door.run.budget, **outcomes.budget(budget)}
        door.run.save(update_fields=["budget"])
    if reason in ("permission", "crash_loop"):
        _forgive(door)
    door.move(states.QUEUED, data={"because": "resumed"})
    return _done(door, "run.resumed", channel, budget={key: str(value) for key, value in (budget or {}).items()})


def retry(run_id: UUID, *, actor: Actor, channel: str = "") -> Run:
    """Queue a failed run again: exactly the steps that failed it are reopened; the person becomes an initiator.

    Its bounds on steps and repeats count from here, as do the tries of a step that is reopened.
    A deadline that has passed is dropped, or the run would fail again at once. Refusal 404, 409.
    """
    door = _door(run_id, actor)
    _demand(door, {states.FAILED}, _("Only a run that failed can be retried."))
    _demand_agent(door)
    run = door.run
    who = person(actor)
    if who and who not in run.initiators:
        run.initiators = [*run.initiators, who]
    if run.reason == "deadline":
        run.deadline = None
    run.budget = {**run.budget, "retried_after": _last_step(run)}
    run.save(update_fields=["initiators", "deadline", "budget"])
    reopened = _reopen(door)
    door.move(states.QUEUED, data={"because": "retried", "steps": reopened})
    return _done(door, "run.retried", channel, steps=reopened)


def settle(
    run_id: UUID, step: int, *, outcome: str, result: str = "", note: str = "", actor: Actor, channel: str = ""
) -> Run:
    """Settle an unknown outcome: `completed`, `not_done`, `do_again` (409 once finished). Never by initiators.

    `result` is JSON text, what the model reads of a completed call. Refusal 403, 404, 409, 422.
    """
    door = _door(run_id, actor)
    found = Step.objects.filter(run=door.run, seq=step).first()
    if found is None:
        raise not_found(_("There is no such step."))
    if person(actor) in door.run.initiators:
        raise forbidden(_("Whoever started the run cannot say what became of its calls."), code="initiator")
    text = outcomes.text(outcome, result=result, note=note)
    outcomes.demand_settleable(door.run, found, outcome)
    if not door.settle(step, outcome=outcome, result=text, message=note):
        raise Refusal("not_unknown", detail=_("An attempt at this step is still open."))
    if not Step.objects.filter(run=door.run, unknown_since__isnull=False).exists():
        door.wake("settled")
    return _done(door, "run.settled", channel, step=step, outcome=outcome, note=note)


def comment(run_id: UUID, *, text: str, actor: Actor, channel: str = "") -> Run:
    """Add a remark to the run's story, in any state. Refusal 404, 422."""
    door = _door(run_id, actor)
    said = validation.remark("text", text)
    events.append(f"run:{run_id}", "run.commented", actor=actor, message=said)
    return _done(door, "run.commented", channel, text=said)


def _door(run_id: UUID, actor: Actor) -> Command:
    try:
        return command(run_id, actor=actor)
    except Run.DoesNotExist:
        raise not_found(_("There is no such run.")) from None


def _demand(door: Command, allowed: frozenset[str] | set[str], detail: Any) -> None:
    if door.run.status not in allowed:
        raise Refusal("wrong_state", detail=detail, standing=_standing(door.run))


def _standing(run: Run) -> dict[str, Any]:
    """The state that won, and who brought it about when."""
    name = states.run_event(states.RUNNING, run.status)
    found = Event.objects.filter(subject=f"run:{run.pk}", name=name).order_by("-seq").first()
    by, at = (found.actor, found.at) if found else (None, run.updated_at)
    return {"status": run.status, "by": by, "at": at.isoformat(timespec="milliseconds")}


def _demand_way_out(door: Command, reason: str, budget: Mapping[str, Any] | None) -> None:
    _demand_agent(door)
    if reason == "unknown_outcome":
        raise Refusal("settle_first", detail=_("Say first what became of the calls whose outcome is unknown."))
    if reason == "version":
        raise Refusal("version", detail=_("No worker knows the run's version; it goes on by itself once one does."))
    if reason == "budget" and not budget:
        message = _("The budget is used up. Resume with a larger one.")
        raise invalid(message, code="budget_required", errors=[{"field": "budget", "message": message}])


def _demand_agent(door: Command) -> None:
    access = agents.held(door.run.agent)
    if access is None or not access.enabled or access.stopped:
        raise Refusal("agent_stopped", detail=_("The agent is stopped. Start the agent first, then resume the run."))


def _forgive(door: Command) -> None:
    """The tries so far count no more: resuming tries once more."""
    Step.objects.filter(run=door.run, status__in=["planned", "started"]).update(spent=F("attempts"), due_at=None)


def _reopen(door: Command) -> list[int]:
    """Plan anew the turn that failed the run; steps that were closed with it stay closed."""
    last = Step.objects.filter(run=door.run).exclude(kind=states.TOOL_CALL).order_by("-seq").first()
    if last is None or last.status != "failed" or last.reason == "cancelled":
        return []
    Step.objects.filter(run=door.run, seq=last.seq).update(
        status="planned", reason="", result=None, due_at=None, spent=F("attempts"), generation=F("generation") + 1
    )
    data = {"step": last.seq, "kind": last.kind}
    events.append(f"run:{door.run.pk}", "step.planned", actor=door.actor, data=data)
    return [last.seq]


def _last_step(run: Run) -> int:
    found: int | None = Step.objects.filter(run=run).aggregate(last=Max("seq"))["last"]
    return found or 0


def _remark(text: str) -> str:
    return validation.remark("comment", text) if text else ""


def _done(door: Command, action: Action, channel: str, **detail: Any) -> Run:
    target = f"run:{door.run.pk}"
    audit.record(action, actor=door.actor, target=target, detail=detail, channel=channel)
    return door.run
