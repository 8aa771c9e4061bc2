"""What the scheduler starts; a task calls one function and holds nothing."""

from celery import shared_task

from approvals import escalation
from approvals.notifications import delivery
from tenants import doors
from tenants.paced import paced

BATCH = 1000


@shared_task(name="approvals.tasks.sweep", ignore_result=True)
@paced
def sweep() -> None:
    """Expire and escalate what is due."""
    escalation.sweep()


@shared_task(name="approvals.tasks.deliver", ignore_result=True)
@paced
def deliver() -> None:
    """Send the messages that are due."""
    delivery.sweep(patience=delivery.PATIENCE)


@shared_task(name="approvals.tasks.tidy", ignore_result=True)
def tidy() -> None:
    """Delete ended deliveries of no request after 30 days, and used callbacks after one, in batches."""
    while doors.forget("deliveries", BATCH) >= BATCH:
        pass
