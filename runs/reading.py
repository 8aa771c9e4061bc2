"""The journal as it is read: the run, and its steps since the last completed compaction."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from runs import wire
from runs.entries import AttemptRow, Journal, RunRecord, StepRow
from runs.models import Run
from runs.states import STEP_OPEN
from tenants import exact_json

_RUN = wire.statement("journal_read_run", "uuid uuid")
_STEPS = wire.statement("journal_read_steps", "uuid uuid bigint")
_ATTEMPTS = wire.statement("journal_read_attempts", "uuid uuid bigint[]")
_PAYLOADS = 21


def load(tenant: UUID, run_id: UUID) -> Journal:
    """Read a run and its steps since the last completed compaction, in two round trips or three.

    No scope is needed; inside one it reads in that transaction. Raises Run.DoesNotExist.
    """
    key = (str(tenant), str(run_id))
    row = wire.one(_RUN, key)
    if row[0] is None:
        raise Run.DoesNotExist
    last_event, last_seq, start = row[13:16]
    steps = [_step(found) for found in wire.every(_STEPS, (*key, str(start)))] if last_seq else []
    return Journal(_record(tenant, run_id, row), _with_attempts(key, steps), last_event, last_seq + 1)


def _record(tenant: UUID, run_id: UUID, row: Sequence[Any]) -> RunRecord:
    agent, version, title, status, reason, labels, initiators, started_by, budget, deadline, created, text, worked = (
        row[:13]
    )
    return RunRecord(
        tenant=tenant,
        id=run_id,
        agent=agent,
        version=version,
        title=title,
        status=status,
        reason=reason,
        labels=exact_json.loads(labels),
        initiators=tuple(initiators),
        started_by=exact_json.loads(started_by),
        budget=exact_json.loads(budget),
        deadline=deadline,
        created_at=created,
        input=text or "",
        worked=worked,
    )


def _step(row: tuple[Any, ...]) -> StepRow:
    if row[_PAYLOADS] is None:
        return StepRow(*row)
    return replace(StepRow(*row), payloads=exact_json.loads(row[_PAYLOADS]))


def _with_attempts(key: tuple[str, str], steps: list[StepRow]) -> tuple[StepRow, ...]:
    wanted = [str(step.seq) for step in steps if step.tries and step.status in STEP_OPEN]
    if not wanted:
        return tuple(steps)
    found = defaultdict[int, list[AttemptRow]](list)
    for seq, *rest in wire.every(_ATTEMPTS, (*key, wanted)):
        found[seq].append(AttemptRow(*rest))
    return tuple(replace(s, attempts=tuple(found[s.seq])) if s.seq in found else s for s in steps)
