"""One boundary of a worker: the values of `journal_boundary`, and its answer."""

import csv
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from psycopg.pq.abc import PGresult

from runs.entries import Change, Closing, Journal, Opening, Planned, Stored
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


Who = tuple[str, str, str, str]
"""The holder at whose boundary it is: tenant, run, fence, and the actor as JSON."""


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


def values(who: Who, journal: Journal, change: Change) -> list[prepared.Value]:
    """What is sent for a boundary."""
    closing, plans, opening = change
    found: list[prepared.Value] = [None] * len(_NAMES)
    found[:4] = who
    if closing:
        _close(found, closing, journal)
    if plans:
        _plan(found, journal.next_seq, plans)
    if opening:
        _open(found, opening)
    return found


def write(values: list[prepared.Value], beside: Callable[[], None]) -> Answer:
    """One round trip, one commit; `beside` is done meanwhile."""
    return told(prepared.run_beside(_QUERY, values, beside))


def question(values: list[prepared.Value]) -> prepared.Question:
    """The same to be sent with other statements."""
    return _QUERY, values


def told(result: PGresult) -> Answer:
    """What the database says that it did."""
    row = result.get_value(0, 0) or b""
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


def _close(values: list[prepared.Value], closing: Closing, journal: Journal) -> None:
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
        tokens, cost = journal.totals(usage)
        values[_AT["tokens_total"] :] = [str(tokens), str(cost)]


def _plan(values: list[prepared.Value], first: int, plans: Sequence[Planned]) -> None:
    """Add the steps that are numbered from `first`; one alone, or one before declined ones, costs least."""
    rest = [(first + place, planned) for place, planned in enumerate(plans)]
    if not rest[0][1].declined:
        _new(values, *rest.pop(0))
    if rest:
        values[_AT["more"]] = exact_json.dumps([_more(seq, planned) for seq, planned in rest])


def _open(values: list[prepared.Value], opening: Opening) -> None:
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
