"""The boundary at which all goes on as its holder expects: an attempt that went well is closed, a new step is opened.

Nearly every boundary is this one. As one statement of which every value is known it costs PostgreSQL two thirds of the
function that tells all cases apart. Where anything is otherwise it writes nothing, and that function is asked.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from django.db import IntegrityError

from runs import states
from runs.boundary import Who
from runs.entries import Change, Closing, Journal, Opening, Planned, Stored, Usage
from tenants import exact_json, prepared
from tenants.locks import ENTER_AND_HOLD

_STATEMENT = """
WITH closed AS (
    UPDATE runs_step s
       SET status = 'completed', reason = '', result = :result, {usage}
           last_closed_at = clock_timestamp(), last_cause = '', last_message = ''
      FROM runs_lease l
     WHERE l.tenant_id = :tenant AND l.run_id = :run AND l.fence = :fence
       AND coalesce(l.until, '-infinity') > clock_timestamp() AND {goes_on} {stamp}
       AND s.tenant_id = :tenant AND s.run_id = :run AND s.seq = :close
       AND s.last_opened_at IS NOT NULL AND s.last_closed_at IS NULL
 RETURNING s.last_closed_at AS now
), opened AS (
    INSERT INTO runs_step (tenant_id, run_id, seq, kind, status, reason, turn, tool, effect, call_id, digest,
                           generation, attempts, spent, proposed, arguments, rationale,
                           last_kind, last_fence, last_key, last_opened_at)
    SELECT :tenant, :run, :open, :kind, 'started', '', :turn, :tool, :effect, :call_id, :digest,
           0, 1, 0, :proposed, :arguments, :rationale, 'call', :fence, :key, c.now
      FROM closed c
), told AS (
    INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
    SELECT :tenant, subject_of_run(:run), :last + e.place, e.name, c.now, :actor, e.message, e.data
      FROM closed c, (VALUES (1, 'step.completed', :close_note, :completed),
                             (2, 'step.planned', :plan_note, :planned),
                             (3, 'step.started', :open_note, :started)) AS e(place, name, message, data)
)
SELECT date_part('epoch', c.now) FROM closed c
"""
_BY_INDEX = "set_config('enable_seqscan', 'off', true)"
"""A plan is made once and kept: a table that is small just then is not to be read as a whole ever after."""
_FIRST = f"{ENTER_AND_HOLD} || {_BY_INDEX}"
_HEARD = "SELECT events_appended($1::uuid, subject_of_run($2::uuid), $3::bigint, $4::bigint)"
EVENTS = 3
GOES_ON = {False: "NOT l.halted", True: "NOT l.stopped"}
"""Whether all may go on, by whether a webhook may hear of it: then the lease always counts as halted."""
_ALWAYS = """
    tenant:uuid run:uuid fence:bigint actor:jsonb last:integer close:bigint result:text completed:jsonb
    open:bigint kind:text planned:jsonb started:jsonb
"""
_SAID = """
    close_note:text turn:bigint tool:text effect:text call_id:text digest:text proposed:text arguments:text
    rationale:text key:text plan_note:text open_note:text
"""
_UNSAID = {"turn": "0", "proposed": "NULL", "arguments": "NULL", "rationale": "NULL"}
"""What is not sent, but for texts that are empty."""
_STAMP = "stamp:bigint"
_UNCHANGED = "AND (SELECT t.stamp FROM tenants_tenant t WHERE t.id = :tenant) = :stamp"
_USAGE = "tokens_in:bigint tokens_out:bigint cost:numeric tokens_total:bigint cost_total:numeric"


@cache
def _query(*, said: bool, stamped: bool, used: bool, heard: bool) -> str:
    """The statement where more is said than that a turn begins, where a call was judged under a stamp, where a turn
    says what it used, or without these: a value that is not sent costs PostgreSQL nothing."""
    more = ((_SAID, said), (_STAMP, stamped), (_USAGE, used))
    names = " ".join((_ALWAYS, *(each for each, wanted in more if wanted))).split()
    usage = "".join(f"{name} = :{name}, " for name in re.findall(r"(\w+):", _USAGE)) if used else ""
    text = _STATEMENT.format(usage=usage, stamp=_UNCHANGED if stamped else "", goes_on=GOES_ON[heard])
    places = {name: _UNSAID.get(name, "''") for name in re.findall(r"(\w+):", _SAID)}
    places |= {name: f"${place}::{kind}" for place, (name, kind) in enumerate((each.split(":") for each in names), 1)}
    return re.sub(r"(?<!:):(\w+)", lambda found: places[found[1]], text)


class Usual(NamedTuple):
    """A first attempt that was completed, the one step that follows, and the attempt that is opened on it."""

    closing: Closing
    planned: Planned
    opening: Opening


def usual(journal: Journal, change: Change) -> Usual | None:
    """The boundary, if it is of this kind."""
    closing, plans, opening = change
    if closing is None or opening is None or len(plans) != 1 or opening.step != journal.next_seq:
        return None
    found = Usual(closing, plans[0], opening)
    step = journal.step(closing.step)
    plain = step.tries == 1 and step.kind != states.COMPACTION  # Of a compaction the run's row tells too.
    return found if plain and _went_well(closing) and _is_plain(*found) else None


def _went_well(closing: Closing) -> bool:
    _step, status, _result, _texts, reason, cause, message, _not_done, delay, due_at, *_ = closing
    return status == "completed" and not (reason or cause or message or delay or due_at)


def _is_plain(closing: Closing, planned: Planned, opening: Opening) -> bool:
    """Whether a call is opened on a step that is not declined, and all texts are there and whole."""
    texts = {type(planned.proposed), type(planned.arguments), type(planned.rationale)}
    return isinstance(closing.result, str) and not planned.declined and opening.kind == "call" and Stored not in texts


def write(who: Who, journal: Journal, usual: Usual, beside: Callable[[], None], *, heard: bool = False) -> float | None:
    """One round trip, one commit; its time in epoch seconds. `beside` is done meanwhile.

    None where nothing was written: not all is as `journal` says, or a webhook hears of the run. Where that may be, as
    `heard` says, it is seen to that it does.
    """
    told = (journal.last_event + 1, journal.last_event + EVENTS) if heard else None
    return sent(who, *_asked(who, journal, usual, heard=heard), beside, heard=told)


def sent(
    who: Who, query: str, values: Sequence[prepared.Value], beside: Callable[[], None], *, heard: tuple[int, int] | None
) -> float | None:
    """Take the lock and run a statement that writes all or nothing, and gives its time; as `write`.

    `heard` are the first and the last number of its events, where a webhook may hear of them.
    """
    tenant, run, *_ = who
    first = (_FIRST, (tenant, f"run:{run}"))
    try:
        if heard:
            hear = (_HEARD, (tenant, run, *map(str, heard)))
            answer = prepared.together([[first, (query, values), hear]], lambda _: beside())[1]
        else:
            answer = prepared.run_after(first, query, values, beside)
    except IntegrityError:  # Somebody else has told of this run meanwhile: the next event has another number.
        return None
    return float(answer.get_value(0, 0) or 0) if answer.ntuples else None


def _asked(who: Who, journal: Journal, usual: Usual, *, heard: bool) -> tuple[str, list[prepared.Value]]:
    """The statement and its values."""
    closing, planned, opening = usual
    values = [*who, *_always(journal, *usual)]
    told = (closing.note, *planned[1:5], *map(_row, planned[6:9]), opening.key, planned.message, opening.message)
    if said := bool(planned.turn) or any(told):
        values += (told[0], str(planned.turn), *told[1:])
    if opening.stamp is not None:
        values.append(str(opening.stamp))
    if closing.usage:
        values += _used(journal, closing.usage)
    return _query(said=said, stamped=opening.stamp is not None, used=closing.usage is not None, heard=heard), values


def _always(journal: Journal, closing: Closing, planned: Planned, opening: Opening) -> tuple[prepared.Value, ...]:
    step, seq, kind, tool = journal.step(closing.step), opening.step, planned.kind, quoted(planned.tool)
    of_tool = f'"tool":{quoted(step.tool)},' if step.tool else ""
    return (
        str(journal.last_event),
        str(step.seq),
        _row(closing.result),
        f'{{"step":{step.seq},{of_tool}"attempt":1}}',
        str(seq),
        kind,
        f'{{"step":{seq},"kind":"{kind}","tool":{tool}}}',
        f'{{"step":{seq},"tool":{tool},"attempt":1,"kind":"call"}}',
    )


def _used(journal: Journal, usage: Usage) -> tuple[prepared.Value, ...]:
    tokens, cost = journal.totals(usage)
    return str(usage.tokens_in), str(usage.tokens_out), prepared.text(usage.cost), str(tokens), str(cost)


@cache
def quoted(tool: str) -> str:
    """The name as a JSON string."""
    return exact_json.dumps(tool)


def _row(text: str | Stored | None) -> str | None:
    """A text that `usual` has found to be whole."""
    return text if isinstance(text, str) else None
