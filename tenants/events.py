"""What happened to a subject, in order: past-tense facts with a gapless number, for people and clients."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenants import exact_json, live, prepared
from tenants.actors import Actor
from tenants.locks import demand
from tenants.models import Event
from tenants.scope import current

_APPEND = prepared.statement("event_append", "uuid text text jsonb text jsonb")


@dataclass(frozen=True, kw_only=True, slots=True)
class EventRow:
    """One event as it is read: `actor` is what `Actor.as_json` wrote, numbers in `data` are exact."""

    subject: str
    seq: int
    name: str
    at: datetime
    actor: dict[str, Any]
    message: str
    data: dict[str, Any]


def append(subject: str, name: str, *, actor: Actor, message: str = "", data: Mapping[str, Any] | None = None) -> int:
    """Write the subject's next event and return its number; whoever watches the subject is told on commit.

    Needs the subject's lock. `name` is one of the contract's, such as `approval.requested`; `message`
    is a fact a person understands; `data` is any JSON object.
    """
    seq = int(prepared.one(_APPEND, _values(subject, name, actor=actor, message=message, data=data or {}))[0])
    live.ring(subject, seq)
    return seq


def put(
    subject: str,
    name: str,
    *,
    actor: Actor,
    then: Callable[[int], None],
    message: str = "",
    data: Mapping[str, Any] | None = None,
) -> None:
    """The same with the next statement of the scope, at the latest before its commit; `then` hears the number."""
    values = _values(subject, name, actor=actor, message=message, data=data or {})
    prepared.later(_APPEND, values, lambda row: then(int(row[0])))


def _values(
    subject: str, name: str, *, actor: Actor, message: str, data: Mapping[str, Any]
) -> tuple[prepared.Value, ...]:
    demand(subject)
    return (str(current()), subject, name, exact_json.dumps(actor.packed()), message, exact_json.dumps(data))


def after(subject: str, seq: int, limit: int) -> list[EventRow]:
    """At most `limit` events of the subject with a number above `seq`, in order."""
    rows = Event.objects.filter(subject=subject, seq__gt=seq).order_by("seq")[:limit]
    return [row(event) for event in rows]


def last_seq(subject: str) -> int:
    """The number of the subject's latest event, 0 where it has none."""
    found = Event.objects.filter(subject=subject).order_by("-seq").values_list("seq", flat=True).first()
    return found or 0


def row(event: Event) -> EventRow:
    """The event as it is read."""
    return EventRow(
        subject=event.subject,
        seq=event.seq,
        name=event.name,
        at=event.at,
        actor=event.actor,
        message=event.message,
        data=event.data,
    )
