"""The first attempt on a call that people or rules allowed, opened as its holder expects: one statement, as `onward`.

It is what stands between a yes and the act. Where anything is otherwise nothing is written, and `journal_boundary` is
asked.
"""

import re
from collections.abc import Callable

from runs.boundary import Who
from runs.entries import Journal, Opening
from runs.onward import GOES_ON, quoted, sent

_STATEMENT = """
WITH opened AS (
    UPDATE runs_step s
       SET status = 'started', attempts = 1, due_at = NULL,
           last_kind = 'call', last_fence = :fence, last_key = :key, last_opened_at = clock_timestamp()
      FROM runs_lease l
     WHERE l.tenant_id = :tenant AND l.run_id = :run AND l.fence = :fence
       AND coalesce(l.until, '-infinity') > clock_timestamp() AND {goes_on}
       AND (SELECT t.stamp FROM tenants_tenant t WHERE t.id = :tenant) = :stamp
       AND s.tenant_id = :tenant AND s.run_id = :run AND s.seq = :open AND s.status = 'planned' AND s.attempts = 0
 RETURNING s.last_opened_at AS now
), told AS (
    INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)
    SELECT :tenant, subject_of_run(:run), :last + 1, 'step.started', o.now, :actor, :note, :started FROM opened o
)
SELECT date_part('epoch', o.now) FROM opened o
"""
_NAMES = """
    tenant:uuid run:uuid fence:bigint actor:jsonb last:integer open:bigint key:text stamp:bigint note:text
    started:jsonb
"""
_PLACES = {
    name: f"${place}::{kind}" for place, (name, kind) in enumerate((each.split(":") for each in _NAMES.split()), 1)
}
QUERIES = {
    heard: re.sub(r"(?<!:):(\w+)", lambda found: _PLACES[found[1]], _STATEMENT.format(goes_on=goes_on))
    for heard, goes_on in GOES_ON.items()
}


def usual(journal: Journal, opening: Opening) -> bool:
    """Whether a step that was never tried is opened with its arguments as they stand, under a stamp."""
    if opening.kind != "call" or opening.stamp is None or opening.arguments is not None or opening.digest:
        return False
    first = journal.steps[0].seq if journal.steps else journal.next_seq
    if not first <= opening.step < journal.next_seq:
        return False
    step = journal.step(opening.step)
    return step.status == "planned" and step.tries == 0


def write(
    who: Who, journal: Journal, opening: Opening, beside: Callable[[], None], *, heard: bool = False
) -> float | None:
    """One round trip, one commit; as `onward.write`."""
    seq, tool = opening.step, quoted(journal.step(opening.step).tool)
    started = f'{{"step":{seq},"tool":{tool},"attempt":1,"kind":"call"}}'
    last, stamp = str(journal.last_event), str(opening.stamp)
    values = [*who, last, str(seq), opening.key, stamp, opening.message, started]
    number = journal.last_event + 1
    return sent(who, QUERIES[heard], values, beside, heard=(number, number) if heard else None)
