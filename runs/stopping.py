"""How a holder stops: the values of `journal_stop`, and its answer."""

from collections.abc import Mapping
from typing import NamedTuple

from psycopg.pq.abc import PGresult

from runs import states
from runs.boundary import Who
from tenants import exact_json, prepared

_STOP = prepared.statement("journal_stop", "uuid uuid bigint text text jsonb text text jsonb text")


class Answer(NamedTuple):
    """What the database did: `code` is ok, lost or halted; `status` is the run's before."""

    code: str
    status: str
    last_event: int


def question(
    who: Who,
    status: str,
    *,
    reason: str = "",
    message: str = "",
    result: str | None = None,
    data: Mapping[str, str] | None = None,
) -> prepared.Question:
    """The run's new state, with its event, and the end of the lease."""
    *key, actor = who
    event = states.run_event(states.RUNNING, status)
    return _STOP, (*key, status, reason, actor, event, message, exact_json.dumps(data or {}), result)


def told(result: PGresult) -> Answer:
    """What the database says that it did."""
    (answer,) = prepared.read(result, Answer._make)
    return answer
