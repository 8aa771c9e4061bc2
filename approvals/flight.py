"""Many due requests of a tenant: what each comes to is planned from one reading, and done each in its own transaction.

What was read is only a plan: each transaction takes the subject's lock and reads again whether it still holds. They
travel together, so that none waits for the way of another.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from uuid import UUID

import psycopg

from approvals import asked, ladder, requests, texts, wordings
from approvals.ascent import Ascent, ascent
from approvals.hands import Row
from approvals.known import Alike, Known
from approvals.models import ApprovalRequest, Delivery
from approvals.notifications import outbox
from approvals.rosters import Roster
from approvals.signals import silent_hearings
from approvals.story import facts, ring
from tenants import exact_json, locks, prepared
from tenants.actors import SYSTEM
from tenants.rows import Rows
from tenants.scope import ENTER, scope

TOGETHER = 16
"""Transactions that travel together: their answers come when the last is done."""
_BEGIN = f"{ENTER}, {locks.PATIENCE}"
_FIELDS = (
    *("id", "tenant_id", "subject", "ref", "status", "version", "escalation_level", "rung", "short", "agent", "risk"),
    *("initiators", "definition_digest", "requirement_digest", "own_requirement", "opened_at", "deadline"),
)
_OF_REQUEST = "a.tenant_id = r.tenant_id AND a.request_id = r.id"
_ROWS = Rows(
    ApprovalRequest,
    "r.tenant_id = $1::uuid AND r.id = ANY ($2::uuid[]) AND r.status = 'pending'",
    only=_FIELDS,
    also=[
        "clock_timestamp()",
        "(SELECT t.stamp FROM tenants_tenant t WHERE t.id = r.tenant_id)",
        f"EXISTS (SELECT FROM approvals_review a WHERE {_OF_REQUEST})",
        f"EXISTS (SELECT FROM approvals_reassignment a WHERE {_OF_REQUEST})",
        "r.xmin::text",
        f"ARRAY(SELECT a.member_id FROM approvals_asked a WHERE {_OF_REQUEST} AND a.until IS NULL)",  # noqa: S608  Ours.
    ],
)
_ASCEND = prepared.statement(
    "request_ascend",
    "uuid uuid text text timestamptz json integer integer integer timestamptz timestamptz bigint jsonb jsonb jsonb",
)
_SYSTEM = exact_json.dumps(SYSTEM.packed())


@dataclass(frozen=True)
class Planned:
    """What one request comes to: its transaction, and what hears the row that the second statement gives, as texts.

    `heard` says whether the request is done with; what is not, is handled alone.
    """

    id: UUID
    questions: Sequence[prepared.Question]
    heard: Callable[..., bool]


@dataclass(frozen=True)
class Read:
    """A row as it was read: which version of it, and who is asked."""

    row: Row
    version: str
    asked: frozenset[UUID]


@dataclass(frozen=True)
class Plans:
    """What many requests come to, and those of which that cannot be told beforehand."""

    planned: Sequence[Planned]
    alone: Sequence[UUID]


def plans(tenant: UUID, keys: Sequence[UUID], known: Known) -> Plans:
    """What these requests of a tenant come to as they are now; those that do not wait any more come to nothing."""
    with scope(tenant, read_only=True):
        found = [_read(*each) for each in _ROWS.beside(str(tenant), [str(key) for key in keys])]
        if not found:
            return Plans((), ())
        people = known.people(found[0].row)
        alike = Alike(people)
        made = {each.row.request.pk: _plan(each, people, known, alike) for each in found}
    return Plans([each for each in made.values() if each], [key for key, each in made.items() if each is None])


def done(made: Plans) -> list[UUID]:
    """Do what was planned, where it still holds; the requests that have to be handled alone."""
    alone = list(made.alone)
    for first in range(0, len(made.planned), TOGETHER):
        some = made.planned[first : first + TOGETHER]
        answers = prepared.apart([each.questions for each in some])
        alone += [each.id for each, answer in zip(some, answers, strict=True) if not _done(each, answer)]
    return alone


def _done(each: Planned, answer: prepared.Answers) -> bool:
    if isinstance(answer, psycopg.Error):
        return False  # Handled alone it fails again, and says why.
    return each.heard(*prepared.texts(answer[1]))


def _read(
    request: ApprovalRequest,
    now: datetime,
    stamp: int,
    answered: bool,
    moved: bool,
    version: str,
    asked: Sequence[UUID],
) -> Read:
    wordings.recall(request)
    return Read(Row(request, now, stamp=stamp, answered=answered, moved=moved), version, frozenset(asked))


def _plan(read: Read, people: Roster, known: Known, alike: Alike) -> Planned | None:
    if read.row.request.deadline <= people.now:
        return _silence(read.row.request, people, alike)
    if read.row.answered or read.row.moved or read.row.stamp != people.stamp:
        return None
    try:
        ask = alike.asking(read.row, known)
        found = ascent(read.row.request, people, ask, unseen=_unknown, able=alike.able)
    except _UnknownError:
        return None
    return None if found.nobody else _climb(read, found, people, alike)


class _UnknownError(Exception):
    """More would have to be read."""


def _unknown() -> bool:
    raise _UnknownError


def _silence(request: ApprovalRequest, people: Roster, alike: Alike) -> Planned:
    told = outbox.rows(request, outbox.ENDED, alike.ears(request.initiators), alike.out) if request.initiators else []
    key = (str(request.tenant_id), str(request.pk))
    words = (_SYSTEM, requests.EXPIRED, requests.AGREED, _packed(told), texts.expired())
    silence = (_silence_query(), (*key, request.subject, str(people.stamp), *words))

    def heard(code: str, last_event: str | None, above: str | None) -> bool:
        if last_event is not None:
            ring(request, int(last_event))
        for each in silent_hearings:
            if above is not None:
                each.then(request.tenant_id, request.subject, above)
        return code not in ("early", "moved", "fail_run")

    return Planned(request.pk, [(_BEGIN, (key[0],)), silence], heard)


def _climb(read: Read, found: Ascent, people: Roster, alike: Alike) -> Planned:
    request = read.row.request
    ladder.stand(request, found)
    key = (str(request.tenant_id), str(request.pk), request.subject, read.version, people.now.isoformat())
    may = None if found.may.keys() == read.asked else asked.may(found.may)
    said = [{"message": fact.message, "data": facts(request, fact.data)} for fact in found.facts]
    told = _packed(_told(request, read.asked, found, alike))
    values = (*key, may, *ladder.numbers(found), _SYSTEM, exact_json.dumps(said) if said else None, told)

    def heard(code: str, last_event: str | None) -> bool:
        if last_event is not None:
            ring(request, int(last_event))
        return code != "moved"

    return Planned(request.pk, [(_BEGIN, (key[0],)), (_ASCEND, values)], heard)


def _told(request: ApprovalRequest, before: frozenset[UUID], found: Ascent, alike: Alike) -> Iterator[Delivery]:
    """What `ladder.climb` has told."""
    news: list[tuple[str, Collection[UUID], str]] = [(outbox.AGAIN, before, str(rung)) for rung in found.again]
    news += [(outbox.ASKED, found.may.keys() - before, "")]
    news += [(outbox.CLOSING, found.may.keys(), "")] if found.closing else []
    for kind, members, mark in news:
        if members:
            yield from outbox.rows(request, kind, alike.ears(list(members)), alike.out, mark=mark)


def _packed(told: Iterable[Delivery]) -> str | None:
    rows = outbox.packed(told)
    return exact_json.dumps(rows) if rows else None


@cache
def _silence_query() -> str:
    """The end of a request by silence, and in the same statement what the floor above makes of it."""
    ended = prepared.statement("request_silent", "uuid uuid text bigint jsonb text text jsonb")
    above = next((each.sql for each in silent_hearings), "NULL::text")
    return f"""
SELECT ended.code, ended.last_event, above.answer
  FROM ({ended}) AS ended
 CROSS JOIN LATERAL (SELECT CASE WHEN ended.last_event IS NOT NULL THEN {above} END AS answer OFFSET 0) AS above
"""  # noqa: S608  All of it is ours.
