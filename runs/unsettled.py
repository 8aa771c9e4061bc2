"""Who hears that a call's outcome is not known: the managers who may settle it, once each time it becomes so.

Where nobody may, the admins hear that, and why. A sweep tells what was not told at once, and those who may only now.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from approvals.notifications import outbox, unsettled
from approvals.notifications.unsettled import NOBODY, Unsettled
from runs import access
from runs.askings import PREFIX
from runs.entries import Closing
from runs.models import Run, Step, ToolDefinition
from tenants import ids
from tenants.locks import hold, patiently
from tenants.models import Member, Tenant
from tenants.scope import scope

T = TypeVar("T")
PAGES = {"no_manager": "settings/people/", "initiators": "settings/people/", "restricted": "settings/agents/"}
"""Where an admin sees to it that somebody may settle, by why nobody may."""
TOLD_WITHIN = timedelta(days=7)
BATCH = 200
logger = logging.getLogger(__name__)


def connect() -> None:
    """Let the messages about an unknown outcome ask what it is of."""
    unsettled.READ_BY.append(read)


def may_follow(closing: Closing | None) -> bool:
    """Whether an outcome may be unknown once an attempt ended so: one that was to be tried again is, where the run has
    ended meanwhile."""
    return closing is not None and (
        closing.status == "unknown" or (closing.status == "started" and not closing.not_done)
    )


def along(tenant: UUID, run_id: UUID, act: Callable[[], T]) -> T:
    """Do what makes an outcome unknown, in one transaction with what is to be told of it."""
    with scope(tenant):
        hold(f"{PREFIX}{run_id}")
        done = act()
        tell(run_id)
    return done


def tell(run_id: UUID) -> None:
    """Let those who may settle the run's unknown outcomes be told of each they were not told of yet.

    Needs scope and the run's lock. One query where none is unknown. A call that is done again and is unknown anew is
    told anew, for its generation has grown. Telling that fails takes nothing from what is recorded: it is logged, and
    the sweep tells it.
    """
    unknown = Step.objects.filter(run_id=run_id, unknown_since__isnull=False, status="unknown")
    steps = list(unknown.order_by("seq").values_list("seq", "generation"))
    if not steps:
        return
    try:
        with transaction.atomic():
            _tell(run_id, steps)
    except Exception:
        logger.exception("Nobody could be told of the unknown outcomes of run %s; the sweep tries again.", run_id)


def sweep() -> int:
    """Tell of what is unknown for less than a week and not told to all whom it concerns; how many runs were looked at.

    What was told is not told again: a notice is one row for each address, and those are kept for longer.
    """
    return sum(_sweep(tenant) for tenant in Tenant.objects.values_list("pk", flat=True))


def lately() -> QuerySet[Step, UUID]:
    """The runs with a call that is unknown for less than a week, found by their rows: steps have no index for it."""
    marked = Run.objects.filter(unsettled=True).values("pk")
    steps = Step.objects.filter(run_id__in=marked, status="unknown", unknown_since__gt=Now() - TOLD_WITHIN)
    return steps.order_by("run_id").values_list("run_id", flat=True).distinct()


def _sweep(tenant: UUID) -> int:
    looked, last = 0, UUID(int=0)
    while found := _after(tenant, last):
        for run_id in found:
            _look(tenant, run_id)
        looked, last = looked + len(found), found[-1]
    return looked


def _after(tenant: UUID, last: UUID) -> list[UUID]:
    """Some more of them: those that stay unknown, since nobody settles them, do not keep the others from being told."""
    with scope(tenant, read_only=True):
        return list(lately().filter(run_id__gt=last)[:BATCH])


def _look(tenant: UUID, run_id: UUID) -> None:
    try:
        with scope(tenant):
            patiently()
            hold(f"{PREFIX}{run_id}")
            tell(run_id)
    except Exception:
        logger.exception("Run %s could not be looked at; the next sweep tries again.", run_id)


def _tell(run_id: UUID, steps: Sequence[tuple[int, int]]) -> None:
    people, mark = list(access.settlers(Run.objects.get(pk=run_id)).values_list("pk", flat=True)), ""
    if not people:
        people, mark = outbox.admins(), NOBODY
    for seq, generation in steps:
        outbox.tell_of_outcome(f"{PREFIX}{run_id}", seq, people, mark=f"{generation}{mark}")


def read(subject: str, ref: int, mark: str, reader: UUID) -> Unsettled | None:
    """What a message to this member may say of the call; None once it is settled, or done again since the one marked so
    was written, and where the member may not settle it (any more), or see to it that somebody may."""
    run_id = ids.parse(subject.removeprefix(PREFIX)) if subject.startswith(PREFIX) else None
    found = Step.objects.filter(run_id=run_id, seq=ref, status="unknown") if run_id else Step.objects.none()
    step = found.select_related("run").first()
    if step is None or step.unknown_since is None or mark.removesuffix(NOBODY) != str(step.generation):
        return None
    lacking = access.lacking_settler(step.run) if mark.endswith(NOBODY) else ""
    whom = Member.objects.filter(active=True, roles__contains=["admin"]) if lacking else access.settlers(step.run)
    if not whom.filter(pk=reader).exists():
        return None
    known = ToolDefinition.objects.filter(name=step.tool).order_by("-announced_at").first()
    return Unsettled(
        act=str(known.definition.get("title") or step.tool) if known else step.tool,
        agent=step.run.agent,
        reference=ids.reference(step.run_id),
        path=PAGES.get(lacking, f"outcomes/?step={step.run_id}-{step.seq}"),
        since=step.unknown_since,
        lacking=lacking,
    )
