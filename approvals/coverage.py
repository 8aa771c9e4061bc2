"""Who could answer, hour by hour: what the guard would say at each moment of the days to come; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from uuid import UUID

from approvals import calendars, requirements, rotas
from approvals.calendars import Calendar
from approvals.requirements import Requirement, Voter
from approvals.reviewers import Asking, able
from approvals.rosters import Roster, Someone, StandIn
from approvals.rotas import Turn


@dataclass(frozen=True)
class Absence:
    """From when until when somebody stands in for somebody."""

    absent: UUID
    by: UUID
    starts: datetime
    ends: datetime


@dataclass(frozen=True)
class Plan:
    """What is asked of whom, and who is there when: in the hours of `calendar` and not away, or on call.

    With `working_time` only working time counts, for the clock of a request stands still outside of it.
    """

    people: Roster
    ask: Asking
    calendar: Calendar
    absences: tuple[Absence, ...] = ()
    working_time: bool = False


@dataclass(frozen=True)
class Stretch:
    """A time in which the same people could answer; `short` too few of them are there. `tight` says that it would be
    too few if one of them had started the run."""

    starts: datetime
    ends: datetime
    members: tuple[UUID, ...]
    short: int
    tight: bool = False

    @property
    def length(self) -> timedelta:
        return self.ends - self.starts


@dataclass(frozen=True)
class Gap:
    """Stretches in a row with too few people. A request made in it by `last` finds too few until its own end, one made
    later lasts beyond the gap; `last` is None where each does, or finds enough people one after the other."""

    stretches: tuple[Stretch, ...]
    last: datetime | None

    @property
    def expires(self) -> bool:
        """Whether a request made at its beginning finds too few people until its own end."""
        return self.last is not None

    @property
    def starts(self) -> datetime:
        return self.stretches[0].starts

    @property
    def ends(self) -> datetime:
        return self.stretches[-1].ends

    @property
    def length(self) -> timedelta:
        return sum((each.length for each in self.stretches), timedelta())


@dataclass(frozen=True)
class _State:
    """What decides who could answer at a moment."""

    opened: bool
    absences: frozenset[Absence]
    turns: frozenset[tuple[str, UUID | None]]


def stretches(plan: Plan, start: datetime, end: datetime) -> list[Stretch]:
    """The time from `start` to `end` by who could answer, in order."""
    known: dict[_State, tuple[tuple[UUID, ...], int, bool]] = {}
    turns = {
        key: _turns(plan, key, start, end) for key in plan.ask.escalation.rotations if key in plan.people.rotations
    }
    spans = list(calendars.working(plan.calendar, start, end))
    found: list[Stretch] = []
    for begins, until in pairwise(_edges(plan, spans, turns.values(), start, end)):
        state = _State(
            opened=any(opens <= begins < closes for opens, closes in spans),
            absences=frozenset(each for each in plan.absences if each.starts <= begins < each.ends),
            turns=frozenset((key, _at(each, begins)) for key, each in turns.items()),
        )
        if plan.working_time and not state.opened:
            continue
        if state not in known:
            known[state] = _judged(plan, state)
        _add(found, Stretch(begins, until, *known[state]))
    return found


def gaps(plan: Plan, found: Sequence[Stretch], *, timeout: int) -> list[Gap]:
    """The stretches with too few people, those in a row together; `timeout` is in seconds of the request's clock."""
    rows: list[list[Stretch]] = []
    before: Stretch | None = None
    for each in found:
        follows = before is not None and before.short and (plan.working_time or before.ends == each.starts)
        if each.short and follows:
            rows[-1].append(each)
        elif each.short:
            rows.append([each])
        before = each
    return [Gap(tuple(row), _last(row, timeout) if _is_in_vain(plan, row) else None) for row in rows]


def _last(row: Sequence[Stretch], timeout: int) -> datetime | None:
    """The latest moment from which the rest of the row is as long as a request waits, by the request's clock."""
    left = timedelta(seconds=timeout)
    for each in reversed(row):
        if left <= each.length:
            return each.ends - left
        left -= each.length
    return None


def _is_in_vain(plan: Plan, row: Sequence[Stretch]) -> bool:
    """Whether there are too few people even if each who is ever there answers."""
    ever = {member for each in row for member in each.members}
    judged = able(_everybody(plan), _last_level(plan.ask))
    return bool(requirements.missing(plan.ask.requirement, _voters(judged[key].voter for key in ever if key in judged)))


def _judged(plan: Plan, state: _State) -> tuple[tuple[UUID, ...], int, bool]:
    """Who could answer, how many are missing, and whether none could be spared."""
    away = {each.absent for each in state.absences}
    on_call: dict[UUID, set[str]] = {}
    for key, member in state.turns:
        if member:
            on_call.setdefault(member, set()).add(key)
    people = replace(
        plan.people,
        stand_ins=tuple(StandIn(each.absent, each.by, each.ends) for each in state.absences),
        people={key: _on_call(each, on_call.get(key, ())) for key, each in plan.people.people.items()},
    )
    there = {
        key: verdict
        for key, verdict in able(people, _last_level(plan.ask)).items()
        if key not in away and (state.opened or key in on_call)
    }
    need = plan.ask.requirement
    voters = _voters(verdict.voter for verdict in there.values())
    short = requirements.missing(need, voters)
    tight = any(
        requirements.missing(need, [each for each in voters if each is not one]) for one in _of_each_kind(need, voters)
    )
    return tuple(sorted(there, key=people.name)), short, tight


def _on_call(someone: Someone, rotations: Iterable[str]) -> Someone:
    """The same one where nothing changes, as for nearly all of them: what is known of them stays known."""
    now = frozenset(rotations)
    return someone if someone.on_call == now else replace(someone, on_call=now)


def _of_each_kind(need: Requirement, voters: Iterable[Voter]) -> list[Voter]:
    """One of those who fill the same of the places that are asked for: without either it would be the same."""
    asked = {(place.kind, place.key) for demand in need.demands for place in (*demand.pool, *demand.places)}
    return list({each.anywhere or each.places & asked: each for each in voters}.values())


def _last_level(ask: Asking) -> Asking:
    """The request as it is once every level has been reached that can be before it ends."""
    return replace(ask, level=len(ask.escalation.levels))


def _everybody(plan: Plan) -> Roster:
    """The people as if each were on call, and each absence were now."""
    every = frozenset(plan.ask.escalation.rotations)
    people = {key: replace(each, on_call=every) for key, each in plan.people.people.items()}
    stand_ins = tuple(StandIn(each.absent, each.by, each.ends) for each in plan.absences)
    return replace(plan.people, people=people, stand_ins=stand_ins)


def _voters(voters: Iterable[Voter | None]) -> list[Voter]:
    return list({voter.key: voter for voter in voters if voter}.values())


def _turns(plan: Plan, key: str, start: datetime, end: datetime) -> list[Turn]:
    return list(rotas.turns(plan.people.rotations[key].rota, start, end, plan.people.reviewers))


def _at(turns: Iterable[Turn], at: datetime) -> UUID | None:
    return next((turn.member for turn in turns if turn.starts <= at < turn.ends), None)


def _edges(
    plan: Plan,
    spans: Iterable[calendars.Span],
    turns: Iterable[Iterable[Turn]],
    start: datetime,
    end: datetime,
) -> list[datetime]:
    """Every moment at which something may change, in order."""
    edges = {edge for span in spans for edge in span}
    edges |= {edge for row in turns for turn in row for edge in (turn.starts, turn.ends)}
    edges |= {edge for each in plan.absences for edge in (each.starts, each.ends)}
    return sorted({start, end, *(edge for edge in edges if start < edge < end)})


def _add(found: list[Stretch], new: Stretch) -> None:
    """Put the stretch at the end, together with the one before it where nothing changes between them."""
    if found and found[-1].ends == new.starts and replace(found[-1], starts=new.starts, ends=new.ends) == new:
        found[-1] = replace(found[-1], ends=new.ends)
    else:
        found.append(new)
