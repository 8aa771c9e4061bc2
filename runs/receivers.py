"""What an answer means for the run it is about; heard inside the transaction that decided it."""

from typing import Any
from uuid import UUID

from django.dispatch import receiver

from approvals.signals import request_resolved
from runs import gate, states
from runs.command import CannotDecline, Command, command
from tenants.actors import Actor

SUBJECT = "run"


@receiver(request_resolved, dispatch_uid="runs.receivers.resolved")
def resolved(
    *, request: Any, subject: str, ref: str, status: str, text: str, actor: Actor, fail_run: bool = False, **_: Any
) -> None:
    """Close the step of a call that got no yes, with what the model reads; queue the run where it can go on."""
    kind, _sep, run_id = subject.partition(":")
    if kind != SUBJECT:
        return
    door = command(UUID(run_id), actor=actor)
    if fail_run and door.run.status in states.UNFINISHED:
        door.move(states.FAILED, reason="expired", message="Nobody answered in time, and the rule fails the run then.")
        return
    if status != "approved":
        _close(door, int(ref), status, text)
    if status == "approved" or gate.can_go_on(door.run.pk):
        door.wake(status, data={"request": str(request.pk), "step": int(ref)})


def _close(door: Command, step: int, status: str, text: str) -> None:
    reason = status if status in states.DECLINED_REASONS else "cancelled"
    try:
        door.decline(step, reason=reason, text=text)
    except CannotDecline:
        return  # It was closed with its run; the answer came to a question that no longer matters.
