"""One boundary of a worker: the values of `journal_boundary`, its answer, and the journal as it stands after it."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from runs import states
from runs.entries import AttemptRow, Closing, Journal, Opening, Planned, StepRow, Stored, Usage
from runs.states import COMPACTION, FINISHED, STEP_OPEN, TOOL_CALL
from tenants import exact_json, prepared

_SIGNATURE = """
    tenant:uuid run:uuid fence:bigint actor:jsonb
    close:bigint status:text reason:text cause:text message:text not_done:boolean delay:float8 due_at:timestamptz
    result:text payloads:jsonb tokens_in:bigint tokens_out:bigint cost:numeric note:text
    new:bigint new_kind:text turn:bigint tool:text effect:text call_id:text new_digest:text proposed:text
    new_arguments:text rationale:text new_payloads:jsonb new_note:text
    more:json
    open:bigint kind:text key:text stamp:bigint arguments:text digest:text open_note:text
    tokens_total:bigint cost_total:numeric
"""
_NAMES, _TYPES = zip(*(item.split(":") for item in _SIGNATURE.split()), strict=True)
_QUERY = prepared.expression("journal_boundary", " ".join(_TYPES))
_AT = {name: place for place, name in enumerate(_NAMES)}


class Answer(NamedTuple):
    """What the database did: `code` is ok, lost, halted or stale; `status` is the run's; times are epoch seconds."""

    code: str
    status: str
    first_event: int
    last_event: int
    at: float
    closed_status: str | None
    closed_reason: str | None
    next_at: float | None
    number: int | None


def blank(tenant: str, run: str, fence: str, actor: str) -> list[prepared.Value]:
    """The values of a boundary at which nothing happens."""
    values: list[prepared.Value] = [None] * len(_NAMES)
    values[:4] = [tenant, run, fence, actor]
    return values


def close(values: list[prepared.Value], closing: Closing, journal: Journal) -> None:
    """Add the end of an attempt, and what the run has used up with it."""
    at = _AT["close"]
    usage = closing.usage
    values[at : at + 14] = [
        str(closing.step),
        closing.status,
        closing.reason,
        closing.cause,
        closing.message,
        prepared.text(closing.not_done),
        prepared.text(closing.delay),
        prepared.text(closing.due_at),
        body(closing.result),
        payloads(result=closing.result),
        str(usage.tokens_in) if usage else None,
        str(usage.tokens_out) if usage else None,
        prepared.text(usage.cost) if usage else None,
        closing.note,
    ]
    if usage:
        tokens, cost = _totals(journal, usage)
        values[_AT["tokens_total"] :] = [str(tokens), str(cost)]


def plan(values: list[prepared.Value], first: int, plans: Sequence[Planned]) -> None:
    """Add the steps that are numbered from `first`; one alone, or one before declined ones, costs least."""
    rest = [(first + place, planned) for place, planned in enumerate(plans)]
    if not rest[0][1].declined:
        _new(values, *rest.pop(0))
    if rest:
        values[_AT["more"]] = exact_json.dumps([_more(seq, planned) for seq, planned in rest])


def turn(values: list[prepared.Value], seq: int, planned: Planned) -> Opening:
    """Add a model turn, compaction or observation that is planned and opened at once."""
    _new(values, seq, planned)
    opening = Opening(step=seq, message=planned.message)
    open_attempt(values, opening)
    return opening


def open_attempt(values: list[prepared.Value], opening: Opening) -> None:
    """Add the beginning of an attempt."""
    at = _AT["open"]
    values[at : at + 7] = [
        str(opening.step),
        opening.kind,
        opening.key,
        prepared.text(opening.stamp),
        opening.arguments,
        opening.digest or None,
        opening.message,
    ]


def write(values: list[prepared.Value], beside: Callable[[], None]) -> Answer:
    """One round trip, one commit; `beside` is done meanwhile."""
    row = prepared.run_beside(_QUERY, values, beside).get_value(0, 0) or b""
    code, status, first, last, at, closed, reason, next_at, number = _words(row.decode())
    return Answer(
        code,
        status,
        int(first or 0),
        int(last or 0),
        float(at or 0),
        closed or None,
        reason,
        float(next_at) if next_at else None,
        int(number) if number else None,
    )


def _words(row: str) -> list[str]:
    """The fields of a row as PostgreSQL writes it; one that is NULL reads as empty."""
    return next(csv.reader([row[1:-1]]))


def body(value: str | Stored | None) -> str | None:
    """What goes into the row."""
    return value.beginning if isinstance(value, Stored) else value


def payloads(**texts: str | Stored | None) -> str | None:
    """Where the rest lies, as JSON; None where all of it is in the row."""
    found = {name: str(text.payload) for name, text in texts.items() if isinstance(text, Stored)}
    return exact_json.dumps(found) if found else None


def _new(values: list[prepared.Value], seq: int, planned: Planned) -> None:
    at = _AT["new"]
    values[at : at + 12] = [
        str(seq),
        planned.kind,
        str(planned.turn),
        planned.tool,
        planned.effect,
        planned.call_id,
        planned.digest,
        body(planned.proposed),
        body(planned.arguments),
        body(planned.rationale),
        _payloads_of(planned),
        planned.message,
    ]


def _payloads_of(planned: Planned) -> str | None:
    return payloads(proposed=planned.proposed, arguments=planned.arguments, rationale=planned.rationale)


def _more(seq: int, planned: Planned) -> dict[str, Any]:
    found = _payloads_of(planned)
    return {
        "seq": seq,
        "turn": planned.turn,
        "tool": planned.tool,
        "effect": planned.effect,
        "call_id": planned.call_id,
        "digest": planned.digest,
        "proposed": body(planned.proposed),
        "arguments": body(planned.arguments),
        "rationale": body(planned.rationale),
        "result": body(planned.result),
        "payloads": exact_json.loads(found) if found else None,
        "declined": planned.declined,
        "message": planned.message,
    }


def moment(seconds: float | None) -> datetime | None:
    """The time of so many seconds since the epoch."""
    return None if seconds is None else _at(seconds)


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def planned_row(seq: int, planned: Planned, *, declined: str) -> StepRow:
    """The step as it is recorded when it is planned; `declined` where it ended at once."""
    return StepRow(
        seq=seq,
        kind=planned.kind,
        status="declined" if declined else "planned",
        reason=declined,
        turn=planned.turn,
        tool=planned.tool,
        effect=planned.effect,
        call_id=planned.call_id,
        digest=planned.digest,
        proposed=body(planned.proposed),
        arguments=body(planned.arguments),
        rationale=body(planned.rationale),
        result=body(planned.result),
    )


def closed_row(journal: Journal, closing: Closing, answer: Answer) -> StepRow:
    """The step after its attempt was closed."""
    step = journal.step(closing.step)
    status = answer.closed_status or step.status
    row = step._replace(
        status=status,
        reason=answer.closed_reason or "",
        due_at=moment(answer.next_at),
        result=step.result if closing.result is None else body(closing.result),
        payloads=_stored(step, closing),
        attempts=_closed(step, closing, answer) if status in STEP_OPEN else (),
    )
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


def _stored(step: StepRow, closing: Closing) -> Mapping[str, str] | None:
    if not isinstance(closing.result, Stored):
        return step.payloads
    return {**(step.payloads or {}), "result": str(closing.result.payload)}


def _used(journal: Journal, row: StepRow, usage: Usage) -> StepRow:
    tokens, cost = _totals(journal, usage)
    return row._replace(
        tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, cost=usage.cost, tokens_total=tokens, cost_total=cost
    )


def _totals(journal: Journal, usage: Usage) -> tuple[int, Decimal]:
    """Tokens and cost of the whole run with this turn. Only its holder closes turns, so it knows what was before."""
    return journal.tokens + usage.tokens_in + usage.tokens_out, journal.cost + (usage.cost or 0)


def opened_row(step: StepRow, opening: Opening, answer: Answer, fence: int) -> StepRow:
    """The step after an attempt was opened."""
    number = answer.number or 1
    attempt = AttemptRow(number, opening.kind, fence, opening.key, _at(answer.at))
    return step._replace(
        status="started" if opening.kind == "call" else step.status,
        tries=number,
        due_at=None,
        arguments=step.arguments if opening.arguments is None else opening.arguments,
        digest=opening.digest or step.digest,
        attempts=(*step.attempts, attempt),
    )


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


def expected(
    journal: Journal, closing: Closing | None, plans: Sequence[Planned], opening: Opening | None
) -> Answer | None:
    """The answer if nobody else writes meanwhile, but for its time; None where it cannot be told beforehand."""
    if closing and (closing.status != "completed" or closing.due_at or closing.delay is not None):
        return None
    first = journal.steps[0].seq if journal.steps else journal.next_seq
    touched = [each.step for each in (closing, opening) if each]
    if any(not first <= seq < journal.next_seq + len(plans) for seq in touched):
        return None  # A holder that lost its lease long ago speaks of steps that it does not know.
    events = sum(2 if planned.declined else 1 for planned in plans) + bool(closing) + bool(opening)
    opened: int | None = None
    if opening:
        opened = 1 if opening.step >= journal.next_seq else journal.step(opening.step).tries + 1
    closed = (closing.status, closing.reason) if closing else (None, "")
    last = journal.last_event
    return Answer("ok", states.RUNNING, last + 1, last + events, 0.0, *closed, None, opened)


def timed(journal: Journal, opening: Opening | None, at: float) -> Journal:
    """The journal that was expected, once it is known when the attempt was opened."""
    if opening:
        step = journal.step(opening.step)
        last = replace(step.attempts[-1], opened_at=_at(at))
        place = step.seq - journal.steps[0].seq
        steps = [
            *journal.steps[:place],
            step._replace(attempts=(*step.attempts[:-1], last)),
            *journal.steps[place + 1 :],
        ]
        return replace(journal, steps=steps)
    return journal


def told(
    journal: Journal,
    answer: Answer,
    closing: Closing | None,
    plans: Sequence[Planned],
    opening: Opening | None,
    *,
    fence: int,
) -> Journal:
    """The journal as the answer says it stands now."""
    changed: dict[int, StepRow] = {}
    if closing:
        changed[closing.step] = closed_row(journal, closing, answer)
    opens = opening is not None and answer.code == "ok"
    finished = answer.status in FINISHED
    for seq, planned in enumerate(plans, journal.next_seq):
        if planned.kind == TOOL_CALL or opens:
            changed[seq] = planned_row(seq, planned, declined=planned.declined or ("cancelled" if finished else ""))
    if opening and opens:
        before = changed.get(opening.step) or journal.step(opening.step)
        changed[opening.step] = opened_row(before, opening, answer, fence)
    return after(journal, list(changed.values()), last_event=answer.last_event)
