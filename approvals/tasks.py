"""What the scheduler starts; a task calls one function and holds nothing."""

from celery import shared_task

from approvals import escalation
from approvals.notifications import delivery


@shared_task(name="approvals.tasks.sweep", ignore_result=True)
def sweep() -> int:
    """Expire and escalate what is due."""
    return escalation.sweep()


@shared_task(name="approvals.tasks.deliver", ignore_result=True)
def deliver() -> int:
    """Send the messages that are due."""
    return delivery.sweep()
