"""What the scheduler starts; a task calls one function and holds nothing."""

from celery import shared_task

from approvals import escalation
from approvals.notifications import delivery
from tenants.paced import paced


@shared_task(name="approvals.tasks.sweep", ignore_result=True)
@paced
def sweep() -> None:
    """Expire and escalate what is due."""
    escalation.sweep()


@shared_task(name="approvals.tasks.deliver", ignore_result=True)
@paced
def deliver() -> None:
    """Send the messages that are due."""
    delivery.sweep()
