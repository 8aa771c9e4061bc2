"""What an answer means for the run it is about; heard inside the transaction that decided it."""

from typing import Any
from uuid import UUID

from django.dispatch import receiver

from approvals.signals import request_resolved
from runs import states
from runs.command import Answer, answered, command
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
    if fail_run and _failed(UUID(run_id), actor):
        return
    reason = status if status in states.DECLINED_REASONS else "cancelled"
    answer = Answer(step=int(ref), request=request.pk, status=status, reason=reason, text=text)
    answered(UUID(run_id), answer, actor=actor)


def _failed(run: UUID, actor: Actor) -> bool:
    door = command(run, actor=actor)
    unfinished = door.run.status in states.UNFINISHED
    if unfinished:
        door.move(states.FAILED, reason="expired", message="Nobody answered in time, and the rule fails the run then.")
    return unfinished
