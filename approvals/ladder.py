"""A request climbs: what is due of it is written, its events told, those told who are to be told. Under its lock."""

from functools import partial
from uuid import UUID

from approvals import asked
from approvals.ascent import EVENT, Ascent, ascent
from approvals.models import ApprovalRequest, Viewing
from approvals.notifications import outbox
from approvals.reviewers import Asking
from approvals.rosters import Roster
from approvals.story import tell
from tenants import prepared
from tenants.actors import Actor

_ASK = prepared.statement("request_ask", "uuid uuid timestamptz json")
_ADVANCE = prepared.statement(
    "request_advance", "uuid uuid timestamptz json integer integer integer timestamptz timestamptz bigint"
)


def climb(
    request: ApprovalRequest, people: Roster, ask: Asking, *, by_hand: Actor | None = None, new: bool = False
) -> list[UUID]:
    """Take the steps that are due, let the list of the asked follow, and write when to look again.

    A level that too few can answer is passed at once, and the event says so. `by_hand` takes one step more.
    A `new` request is inserted here. Returns the members who are asked now and were not before.
    """
    found = ascent(request, people, ask, by_hand=by_hand, unseen=partial(_is_unseen, request))
    stand(request, found)
    for fact in found.facts:
        tell(request, EVENT, actor=fact.actor, message=fact.message, data=fact.data)
    before = asked.now(request) if found.again else []
    for rung in found.again:
        outbox.tell(request, outbox.AGAIN, before, mark=str(rung))
    if found.nobody:
        outbox.tell_admins(request, outbox.NOBODY)
    added = _write(request, people, found, new=new)
    outbox.tell(request, outbox.ASKED, added)
    if found.closing:
        outbox.tell(request, outbox.CLOSING, asked.now(request))
    return added


def stand(request: ApprovalRequest, found: Ascent) -> None:
    """Let the row stand where the ascent led."""
    request.rung, request.escalation_level, request.short = found.rung, found.level, found.short
    request.next_at, request.due_at, request.asked_stamp = found.next_at, found.due_at, found.stamp


def numbers(found: Ascent) -> tuple[str, ...]:
    """What `request_climb` takes: level, step and by how many too few, when to look again, the tenant's stamp."""
    times = (found.due_at.isoformat(), found.next_at.isoformat())
    return (str(found.level), str(found.rung), str(found.short), *times, str(found.stamp))


def _write(request: ApprovalRequest, people: Roster, found: Ascent, *, new: bool) -> list[UUID]:
    """Write the row and who is asked; the members who were not asked before."""
    key = (str(request.tenant_id), str(request.pk), people.now.isoformat(), asked.may(found.may))
    if new:
        request.save(force_insert=True)
        added = prepared.every(_ASK, key)
    else:
        added = prepared.every(_ADVANCE, (*key, *numbers(found)))
    return [member for (member,) in added]


def _is_unseen(request: ApprovalRequest) -> bool:
    """Whether nobody was reached and nobody has looked."""
    return not (outbox.reached(request) or Viewing.objects.filter(request=request).exists())
