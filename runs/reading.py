"""The journal as it is read: the run, and its steps since the last completed compaction."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.pq.abc import PGresult

from runs.entries import AttemptRow, Journal, RunRecord, StepRow
from runs.models import Run
from runs.states import STEP_OPEN
from tenants import actors, exact_json, prepared

_RUN = prepared.statement("journal_read_run", "uuid uuid")
_STEPS = prepared.statement("journal_read_steps", "uuid uuid bigint")
_ATTEMPTS = prepared.statement("journal_read_attempts", "uuid uuid bigint[]")


def load(tenant: UUID, run_id: UUID) -> Journal:
    """Read a run and its steps since the last completed compaction, in two round trips or three.

    No scope is needed; inside one it reads in that transaction. Raises Run.DoesNotExist.
    """
    row = prepared.one(_RUN, (str(tenant), str(run_id)))
    if row[0] is None:
        raise Run.DoesNotExist
    return told(tenant, run_id, row, prepared.run(*question(tenant, run_id)))


def question(tenant: UUID, run_id: UUID) -> prepared.Question:
    """What asks for the run's steps."""
    return _STEPS, (str(tenant), str(run_id), None)


def told(tenant: UUID, run_id: UUID, row: Sequence[Any], steps: PGresult) -> Journal:
    """The journal by the run's row and the answer to `question`; asks once more where a step has not ended."""
    found = prepared.read(steps, _step)
    for place, step in enumerate(found):
        if step.payloads is not None:
            found[place] = step._replace(payloads=exact_json.loads(str(step.payloads)))
    attempts = _with_attempts((str(tenant), str(run_id)), found)
    return Journal(_record(tenant, run_id, row), attempts, row[13], found[-1].seq + 1 if found else 1)


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
        started_by=actors.unpacked(exact_json.loads(started_by)),
        budget=exact_json.loads(budget),
        deadline=deadline,
        created_at=created,
        input=text or "",
        worked=worked,
    )


def _step(row: Sequence[Any]) -> StepRow:
    return StepRow(*row)


def _with_attempts(key: tuple[str, str], steps: list[StepRow]) -> tuple[StepRow, ...]:
    places = {step.seq: place for place, step in enumerate(steps) if step.status in STEP_OPEN and step.tries}
    if places:
        found = defaultdict[int, list[AttemptRow]](list)
        for seq, *rest in prepared.every(_ATTEMPTS, (*key, [str(seq) for seq in places])):
            found[seq].append(AttemptRow(*rest))
        for seq, attempts in found.items():
            steps[places[seq]] = steps[places[seq]]._replace(attempts=tuple(attempts))
    return tuple(steps)
