"""The tenant's people at one moment, read with one statement for any number of requests."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any
from uuid import UUID

from psycopg.pq.abc import PGresult

from approvals import rotas
from approvals.rotas import DAYS, Override, Rota, Turn
from tenants import exact_json, prepared

CHAIN = 3
"""How many stand-ins in a row an answer may come through."""


@dataclass(frozen=True)
class Someone:
    """A member as the guard sees them."""

    id: UUID
    person: UUID
    name: str
    roles: frozenset[str]
    groups: frozenset[str]
    on_call: frozenset[str] = frozenset()
    """The rotations in which it is this member's turn."""

    @cached_property
    def places(self) -> frozenset[tuple[str, str]]:
        """Everything this member fills."""
        roles = {("role", role) for role in self.roles}
        named = {("member", str(self.id))} | {("group", group) for group in self.groups}
        return frozenset(roles | (named if "reviewer" in self.roles else set()))


@dataclass(frozen=True)
class StandIn:
    """`by` answers in the place of `absent` until `until`."""

    absent: UUID
    by: UUID
    until: datetime


@dataclass(frozen=True)
class OnCall:
    """A rotation, whose turn it is now, and everyone who ever had one: their votes outlast it."""

    rota: Rota
    turn: Turn
    served: frozenset[UUID]


@dataclass(frozen=True)
class Roster:
    """The tenant's active people, groups and absences at the moment `now` by the database's clock.

    It is good until `next_change`, when an absence begins or ends, and while the tenant's stamp stays `stamp`.
    `restricted` is agent → the persons who may review it, for the agents that are restricted.
    """

    people: Mapping[UUID, Someone]
    now: datetime
    stand_ins: tuple[StandIn, ...] = ()
    restricted: Mapping[str, frozenset[UUID]] = field(default_factory=dict)
    rotations: Mapping[str, OnCall] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    initiators_may_review: bool = False
    second_factor: bool = False
    timezone: str = "UTC"
    stamp: int = 0
    next_change: datetime | None = None

    def name(self, member: UUID | None) -> str:
        """The member's name, or a dash for one who has left."""
        found = self.people.get(member) if member else None
        return found.name if found else "–"

    @property
    def reviewers(self) -> frozenset[UUID]:
        """Who answers requests."""
        return frozenset(key for key, someone in self.people.items() if "reviewer" in someone.roles)

    def away(self, member: UUID) -> StandIn | None:
        """Who stands in for this member now, if anyone does."""
        return self._away.get(member)

    @cached_property
    def _away(self) -> Mapping[UUID, StandIn]:
        return {each.absent: each for each in reversed(self.stand_ins)}

    @cached_property
    def chains(self) -> Mapping[UUID, Sequence[tuple[UUID, ...]]]:
        """By stand-in: the absent whose place has come to them, each with those it came through; the shortest first.

        A stand-in who is away too is followed to theirs, `CHAIN` times at most and never in a circle. Found once for
        all: in the holidays half an organisation stands in for the other half.
        """
        found: dict[UUID, list[tuple[UUID, ...]]] = {}
        for each in self.stand_ins:
            chain = [each.absent]
            while (link := self.away(chain[-1])) and len(chain) <= CHAIN:
                if link.by in chain or chain[-1] not in self.people:
                    break
                found.setdefault(link.by, []).append(tuple(chain))
                chain.append(link.by)
        return {member: sorted(chains, key=len) for member, chains in found.items()}

    def holds(self, *, stamp: int, now: datetime) -> bool:
        """Whether it is still so where the tenant's stamp and the time are these."""
        ends = [self.next_change, self.handover(self.rotations)]
        return stamp == self.stamp and all(at is None or now < at for at in ends)

    def lasting(self) -> "Roster":
        """The people as votes are counted: whoever had a turn in a rotation may have answered in it."""
        if not self.rotations:
            return self
        served: dict[UUID, set[str]] = {}
        for key, each in self.rotations.items():
            for member in each.served:
                served.setdefault(member, set()).add(key)
        people = {key: replace(someone, on_call=frozenset(served.get(key, ()))) for key, someone in self.people.items()}
        return replace(self, people=people)

    def handover(self, rotations: Collection[str]) -> datetime | None:
        """When the first of these rotations passes to another member."""
        return min((self.rotations[key].turn.ends for key in rotations if key in self.rotations), default=None)


_EVERYONE = """
SELECT clock_timestamp(), t.stamp, t.initiators_may_review, t.second_factor, t.timezone,
  (SELECT string_agg('["' || m.id || '","' || m.person_id || '",' || to_json(coalesce(nullif(p.name, ''), p.email))
     || ',"' || array_to_string(m.roles, ' ') || '"]', ',')
   FROM tenants_member m JOIN tenants_person p ON p.id = m.person_id WHERE m.active AND p.is_active),
  (SELECT string_agg('["' || g.member_id || '","' || g.group_id || '"]', ',') FROM tenants_groupmember g),
  (SELECT json_object_agg(g.id, g.name) FROM tenants_group g)::text,
  CASE WHEN EXISTS (SELECT FROM approvals_delegation d WHERE d.withdrawn_at IS NULL AND d.ends > clock_timestamp())
    THEN roster_absences() END,
  CASE WHEN EXISTS (SELECT FROM tenants_agentaccess a WHERE a.restricted) THEN roster_restricted() END,
  CASE WHEN EXISTS (SELECT FROM approvals_rotation) THEN roster_rotations() END
FROM tenants_tenant t WHERE t.id = (SELECT app_tenant())
"""
READ = f"""{_EVERYONE}AND ($1::text IS NULL OR EXISTS (
  SELECT FROM approvals_approvalrequest r WHERE r.tenant_id = t.id AND r.subject = $1::text AND r.status = 'approved'))
"""
"""With a subject it gives nothing where nobody can have answered there, so that there are no votes to look through."""


QUESTION: prepared.Question = (_EVERYONE, ())
"""Everyone in the tenant in scope, for `prepared.several`."""


def roster() -> Roster:
    """Everyone in the tenant in scope, as they are now; one statement."""
    return read(prepared.run(*QUESTION))


def read(result: PGresult) -> Roster:
    """The answer to `QUESTION`."""
    (row,) = prepared.read(result, tuple)
    return told(row)


def told(row: Sequence[Any]) -> Roster:
    """What the row says that `READ` gives."""
    now, stamp, initiators, factor, zone, *texts = row
    members, grouped, *others = texts
    groups, absences, restricted, rotations = (exact_json.loads(text) if text else None for text in others)
    periods = [_period(each) for each in absences or ()]
    everyone = _everyone(members or "", grouped or "")
    on_call = _all_on_call(rotations, now, everyone) if rotations else {}
    return Roster(
        people={key: _with_turns(someone, on_call) for key, someone in everyone.items()} if on_call else everyone,
        now=now,
        stand_ins=tuple(stand_in for starts, stand_in in periods if starts <= now < stand_in.until),
        restricted={agent: frozenset(map(UUID, persons or ())) for agent, persons in restricted or ()},
        rotations=on_call,
        groups=groups or {},
        initiators_may_review=initiators,
        second_factor=factor,
        timezone=zone,
        stamp=stamp,
        next_change=min((at for begin, one in periods for at in (begin, one.until) if at > now), default=None),
    )


@lru_cache(128)
def _everyone(members: str, grouped: str) -> Mapping[UUID, Someone]:
    """What the same texts say of the members again and again."""
    groups: dict[str, set[str]] = {}
    for member, group in exact_json.loads(f"[{grouped}]"):
        groups.setdefault(member, set()).add(group)
    every = (
        Someone(UUID(key), UUID(person), name, frozenset(roles.split()), frozenset(groups.get(key, ())))
        for key, person, name, roles in exact_json.loads(f"[{members}]")
    )
    return MappingProxyType({someone.id: someone for someone in every})


def _with_turns(someone: Someone, rotations: Mapping[str, OnCall]) -> Someone:
    mine = frozenset(key for key, each in rotations.items() if each.turn.member == someone.id)
    return replace(someone, on_call=mine) if mine else someone


def _all_on_call(rows: Iterable[Any], now: datetime, everyone: Mapping[UUID, Someone]) -> dict[str, OnCall]:
    able = {key for key, someone in everyone.items() if "reviewer" in someone.roles}
    return {str(row[0]): _on_call(row, now, able) for row in rows}


def _on_call(row: Any, now: datetime, able: Collection[UUID]) -> OnCall:
    _key, name, zone, every, handover, first_day, members, overrides, served = row
    rota = Rota(
        name=name,
        zone=zone,
        days=DAYS[every],
        handover=time.fromisoformat(handover),
        first_day=date.fromisoformat(first_day),
        members=tuple(map(UUID, members or ())),
        overrides=tuple(_override(each) for each in overrides or ()),
    )
    return OnCall(rota, rotas.on_call(rota, now, able), rotas.people(rota) | set(map(UUID, served or ())))


def _override(row: Any) -> Override:
    member, starts, ends = row
    return Override(UUID(member), datetime.fromisoformat(starts), datetime.fromisoformat(ends))


def _period(row: Any) -> tuple[datetime, StandIn]:
    absent, by, starts, ends = row
    return datetime.fromisoformat(starts), StandIn(UUID(absent), UUID(by), datetime.fromisoformat(ends))
