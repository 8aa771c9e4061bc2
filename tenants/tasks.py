"""What this floor does from time to time."""

from celery import shared_task

from tenants import doors

BATCH = 1000


@shared_task(name="tenants.tasks.tidy", ignore_result=True)
def tidy() -> None:
    """Delete kept answers past their 24 hours, in batches, until none is left."""
    while doors.forget("answers", BATCH) == BATCH:
        pass
