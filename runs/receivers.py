"""What an answer means for the run it is about; heard inside the transaction that decided it."""

from typing import Any
from uuid import UUID

from django.dispatch import receiver

from approvals.signals import SilentHearing, Story, request_resolved, silent_hearings
from runs import states
from runs.command import Answer, agreed, answered, command, heard
from tenants.actors import Actor

SUBJECT = "run"
_ANSWERED = f"""
CASE WHEN starts_with($3::text, '{SUBJECT}:') THEN
  run_answered($1::uuid, substr($3::text, {len(SUBJECT) + 2})::uuid, ended.ref::bigint, $2::uuid, ended.code,
               ended.code, $9::text, $5::jsonb) END::text
"""
"""As `resolved` does: for silence, whose status is the reason why its call was declined."""


@receiver(request_resolved, dispatch_uid="runs.receivers.resolved")
def resolved(
    *,
    request: Any,
    subject: str,
    ref: str,
    status: str,
    text: str,
    actor: Actor,
    fail_run: bool = False,
    story: Story | None = None,
    **_: Any,
) -> bool:
    """Close the step of a call that got no yes, with what the model reads; queue the run where it can go on.

    Whether the story was taken, to be written with the event of the run.
    """
    kind, _sep, run_id = subject.partition(":")
    if kind != SUBJECT or (fail_run and _failed(UUID(run_id), actor)):
        return False
    if story:
        agreed(UUID(run_id), step=int(ref), request=request.pk, story=story, actor=actor)
        return True
    reason = status if status in states.DECLINED_REASONS else "cancelled"
    answer = Answer(step=int(ref), request=request.pk, status=status, reason=reason, text=text)
    answered(UUID(run_id), answer, actor=actor)
    return False


def _failed(run: UUID, actor: Actor) -> bool:
    door = command(run, actor=actor)
    unfinished = door.run.status in states.UNFINISHED
    if unfinished:
        door.move(states.FAILED, reason="expired", message="Nobody answered in time, and the rule fails the run then.")
    return unfinished


def _resolved_by_silence(tenant: UUID, subject: str, answer: str) -> None:
    last_event, woken = answer.strip("()").split(",")
    heard(tenant, UUID(subject.partition(":")[2]), int(last_event) if last_event else None, woken == "t")


silent_hearings.append(SilentHearing(_ANSWERED, _resolved_by_silence))
