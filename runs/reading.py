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
    run, steps = (prepared.run(*question) for question in questions(tenant, run_id))
    return told(tenant, run_id, run, steps)


def questions(tenant: UUID, run_id: UUID) -> tuple[prepared.Question, prepared.Question]:
    """What asks for the run and for its steps."""
    key = (str(tenant), str(run_id))
    return (_RUN, key), (_STEPS, (*key, None))


def told(tenant: UUID, run_id: UUID, run: PGresult, steps: PGresult) -> Journal:
    """The journal by the answers to `questions`, and to one more where a step has not ended."""
    (row,) = prepared.read(run, tuple)
    if row[0] is None:
        raise Run.DoesNotExist
    last_event, last_seq = row[13:15]
    found = prepared.read(steps, _step)
    for place, step in enumerate(found):
        if step.payloads is not None:
            found[place] = step._replace(payloads=exact_json.loads(str(step.payloads)))
    attempts = _with_attempts((str(tenant), str(run_id)), found)
    return Journal(_record(tenant, run_id, row), attempts, last_event, last_seq + 1)


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
