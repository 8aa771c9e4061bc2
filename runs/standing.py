"""The journal as it stands after a boundary: as it is expected while that is written, and as the answer tells. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from runs import states
from runs.boundary import Answer, body
from runs.entries import AttemptRow, Change, Closing, Journal, Opening, Planned, StepRow, Stored, Usage
from runs.states import COMPACTION, FINISHED, STEP_OPEN, TOOL_CALL

NOT_YET = datetime.fromtimestamp(0, UTC)
"""When an attempt begins whose beginning is being written."""


def moment(seconds: float | None) -> datetime | None:
    """The time of so many seconds since the epoch."""
    return None if seconds is None else _at(seconds)


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC) if seconds else NOT_YET


def planned_row(seq: int, planned: Planned, *, declined: str = "", begun: AttemptRow | None = None) -> StepRow:
    """The step as it is recorded when it is planned; `declined` where it ended at once, `begun` where its first attempt
    did."""
    kind, tool, effect, call_id, digest, turn, proposed, arguments, rationale, result, _declined, _message = planned
    status = "declined" if declined else "started" if begun else "planned"
    texts = (body(proposed), body(arguments), body(rationale), body(result)) if kind == TOOL_CALL else _NO_TEXTS
    tries, attempts = (1, (begun,)) if begun else (0, ())
    # In the order of the fields: by their names it takes longer, at each step.
    head = (seq, kind, status, declined, turn, tool, effect, call_id, digest, 0, tries, None)
    return StepRow._make((*head, *_NOT_USED, *texts, None, 0, attempts))


_NO_TEXTS = (None,) * 4
_NOT_USED = (None,) * 5  # Tokens and cost.


def closed_row(journal: Journal, closing: Closing, answer: Answer) -> StepRow:
    """The step after its attempt was closed."""
    step = journal.step(closing.step)
    status = answer.closed_status or step.status
    row = step.but(
        status=status,
        reason=answer.closed_reason or "",
        due_at=moment(answer.next_at),
        attempts=_closed(step, closing, answer) if status in STEP_OPEN else (),
        **_text(step, closing),
    )
    return row if closing.usage is None else _used(journal, row, closing.usage)


def completed_row(journal: Journal, closing: Closing) -> StepRow:
    """The same of one that was completed, as it can be told beforehand."""
    step = journal.step(closing.step)
    row = step.ended_as("completed", closing.reason, **_text(step, closing))
    return row if closing.usage is None else _used(journal, row, closing.usage)


def _closed(step: StepRow, closing: Closing, answer: Answer) -> tuple[AttemptRow, ...]:
    last = replace(
        step.attempts[-1],
        closed_at=moment(answer.at),
        cause=closing.cause,
        message=closing.message,
        not_done=closing.not_done,
        next_at=moment(answer.next_at),
    )
    return (*step.attempts[:-1], last)


def _text(step: StepRow, closing: Closing) -> dict[str, Any]:
    """What the step has to say, and where the rest of it lies."""
    if isinstance(closing.result, Stored):
        payloads = {**(step.payloads or {}), "result": str(closing.result.payload)}
        return {"result": closing.result.beginning, "payloads": payloads}
    return {"result": step.result if closing.result is None else closing.result, "payloads": step.payloads}


def _used(journal: Journal, row: StepRow, usage: Usage) -> StepRow:
    tokens, cost = journal.totals(usage)
    return row.but(
        tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, cost=usage.cost, tokens_total=tokens, cost_total=cost
    )


def opened_row(step: StepRow, opening: Opening, answer: Answer, fence: int) -> StepRow:
    """The step after an attempt was opened."""
    number = answer.number or 1
    attempt = AttemptRow(number, opening.kind, fence, opening.key, _at(answer.at))
    return step.but(
        status="started" if opening.kind == "call" else step.status,
        tries=number,
        due_at=None,
        arguments=step.arguments if opening.arguments is None else opening.arguments,
        digest=opening.digest or step.digest,
        attempts=(*step.attempts, attempt),
    )


def ahead(journal: Journal, closing: Closing, plans: Sequence[Planned] = ()) -> Journal:
    """The journal once an attempt that was completed is closed and these steps are planned, if nobody else writes."""
    rows = [completed_row(journal, closing)]
    rows += [planned_row(seq, each, declined=each.declined) for seq, each in enumerate(plans, journal.next_seq)]
    return after(journal, rows, last_event=journal.last_event)


def begun(ahead: Journal, planned: Planned, opening: Opening, *, fence: int, last_event: int) -> Journal:
    """What is `ahead`, with the first attempt opened on its last step, which it has already or gets here."""
    steps, seq = list(ahead.steps), opening.step
    attempt = AttemptRow(1, opening.kind, fence, opening.key, NOT_YET)
    if seq == ahead.next_seq:
        steps.append(planned_row(seq, planned, begun=attempt))
    else:
        steps[-1] = steps[-1].begun(attempt)
    return Journal(ahead.run, steps, last_event, seq + 1)


def after(journal: Journal, changed: Sequence[StepRow], *, last_event: int) -> Journal:
    """The journal with these steps put in the place of their former selves, or added; it begins at a compaction."""
    steps = list(journal.steps)
    first = steps[0].seq if steps else journal.next_seq
    for row in changed:
        place = row.seq - first
        if place < len(steps):
            steps[place] = row
        else:
            steps.append(row)
        if row.kind == COMPACTION and row.status == "completed":
            steps, first = steps[place:], row.seq
    return Journal(journal.run, steps, last_event, first + len(steps))


def expected(journal: Journal, change: Change) -> Answer | None:
    """The answer if nobody else writes meanwhile, but for its time; None where it cannot be told beforehand."""
    closing, plans, opening = change
    if closing and (closing.status != "completed" or closing.due_at or closing.delay is not None):
        return None
    first = journal.steps[0].seq if journal.steps else journal.next_seq
    known = range(first, journal.next_seq + len(plans))
    if (closing and closing.step not in known) or (opening and opening.step not in known):
        return None  # A holder that lost its lease long ago speaks of steps that it does not know.
    declined = [planned for planned in plans if planned.declined]
    events = len(plans) + len(declined) + (closing is not None) + (opening is not None)
    opened: int | None = None
    if opening:
        opened = 1 if opening.step >= journal.next_seq else journal.step(opening.step).tries + 1
    closed = (closing.status, closing.reason) if closing else (None, "")
    last = journal.last_event
    return Answer("ok", states.RUNNING, last + 1, last + events, 0.0, *closed, None, opened)


def timed(journal: Journal, opening: Opening | None, at: float) -> Journal:
    """The journal that was expected, once it is known when the attempt was opened."""
    if opening:
        journal.step(opening.step).attempts[-1].opened_at = _at(at)  # Nobody else has this journal yet.
    return journal


def told(journal: Journal, answer: Answer, change: Change, *, fence: int) -> Journal:
    """The journal as the answer says it stands now."""
    closing, plans, opening = change
    changed: dict[int, StepRow] = {}
    if closing:
        changed[closing.step] = closed_row(journal, closing, answer)
    opens = opening is not None and answer.code == "ok"
    undone = "cancelled" if answer.status in FINISHED else ""
    for seq, planned in enumerate(plans, journal.next_seq):
        if planned.kind == TOOL_CALL or opens:
            changed[seq] = planned_row(seq, planned, declined=planned.declined or undone)
    if opening and opens:
        before = changed.get(opening.step) or journal.step(opening.step)
        changed[opening.step] = opened_row(before, opening, answer, fence)
    return after(journal, list(changed.values()), last_event=answer.last_event)
