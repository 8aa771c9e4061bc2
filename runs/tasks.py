"""What messages start; a message is a hint, and the database knows what is due."""

from uuid import UUID

from celery import shared_task

from runs import announcing, collecting, engine, purging, sweeping, unsettled, worker
from tenants.paced import paced


@shared_task(name="runs.tasks.advance", ignore_result=True)
def advance(tenant_id: str, run_id: str) -> None:
    """Advance one run until it must wait. A doubled or late message finds it held, parked or finished, and ends."""
    if worker.stopping():
        return  # The sweep announces the run again, to a worker that stays.
    knows = announcing.knows()
    engine.advance(UUID(tenant_id), UUID(run_id), worker=worker.name(), knows=knows, stopping=worker.stopping)
    worker.leave_if_worn_out()


@shared_task(name="runs.tasks.sweep", ignore_result=True)
@paced
def sweep() -> None:
    """Queue what is due, recover what was lost, fail what is too late."""
    sweeping.sweep()


@shared_task(name="runs.tasks.purge", ignore_result=True)
def purge() -> None:
    """Let finished runs leave whose tenant keeps them no longer."""
    purging.purge_all()


@shared_task(name="runs.tasks.tell", ignore_result=True)
def tell() -> None:
    """Tell of unknown outcomes that could not be told of at once."""
    unsettled.sweep()


@shared_task(name="runs.tasks.collect", ignore_result=True)
def collect() -> None:
    """Let go of large values that nothing uses."""
    collecting.collect_all()
