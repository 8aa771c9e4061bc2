"""What the scheduler starts; a task calls one function and holds nothing."""

from celery import shared_task

from approvals import escalation


@shared_task(name="approvals.tasks.sweep", ignore_result=True)
def sweep() -> int:
    """Expire and escalate what is due."""
    return escalation.sweep()
