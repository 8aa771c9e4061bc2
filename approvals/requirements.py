"""What the rules together demand of one call: how it is written down, joined, compared and met by votes."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal
from uuid import UUID

Outcome = Literal["allow", "require_approval", "deny"]
Kind = Literal["group", "member", "role"]
Silence = Literal["expire", "fail_run", "approve"]
KINDS: tuple[Kind, ...] = ("group", "member", "role")
ANSWERS = ("approve", "edit", "reject", "respond")
OUTCOMES: tuple[Outcome, ...] = ("allow", "require_approval", "deny")
SILENCES: tuple[Silence, ...] = ("approve", "expire", "fail_run")
RESPONSE_TIMEOUT = 24 * 3600


@dataclass(frozen=True)
class Place:
    """Some of the people who may answer: a group, one member, or everyone with a role; and how many of them."""

    kind: Kind
    key: str
    at_least: int = 0

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "key": self.key, "at_least": self.at_least}


REVIEWERS = Place("role", "reviewer")
ADMINS = Place("role", "admin")


@dataclass(frozen=True)
class Demand:
    """What one rule demands: `approvals` different people of `places` (none means any reviewer)."""

    approvals: int
    places: tuple[Place, ...] = ()

    @property
    def pool(self) -> tuple[Place, ...]:
        return self.places or (REVIEWERS,)

    def as_json(self) -> dict[str, Any]:
        return {"approvals": self.approvals, "places": [place.as_json() for place in self.places]}


@dataclass(frozen=True)
class Trace:
    """One rule that took part: which version of it, and on which values it was judged."""

    rule: str
    name: str
    version: int
    outcome: str
    condition: str = ""
    values: tuple[tuple[str, str], ...] = ()
    error: str = ""
    approvals: int = 0
    places: tuple[Place, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "name": self.name,
            "version": self.version,
            "outcome": self.outcome,
            "condition": self.condition,
            "values": [list(pair) for pair in self.values],
            "error": self.error,
            "approvals": self.approvals,
            "places": [place.as_json() for place in self.places],
        }


@dataclass(frozen=True)
class Requirement:
    """What the rules together demand of one call. Times are seconds; `escalation` is a policy's id.

    With `working_time` the deadline is the earliest by `calendars`, which are ids; none means the tenant's default.
    """

    outcome: Outcome
    demands: tuple[Demand, ...] = ()
    answers: tuple[str, ...] = ANSWERS
    reason_required: bool = False
    response_timeout: int = RESPONSE_TIMEOUT
    working_time: bool = False
    calendars: tuple[str | None, ...] = ()
    on_timeout: Silence = "expire"
    escalation: UUID | None = None
    trace: tuple[Trace, ...] = ()

    @property
    def approvals(self) -> int:
        """How many different people must approve at least."""
        return max((demand.approvals for demand in self.demands), default=0)

    @cached_property
    def of(self) -> tuple[Place, ...]:
        """Everyone who may answer at level 0."""
        return tuple(dict.fromkeys(place for demand in self.demands for place in demand.pool))

    @property
    def errors(self) -> tuple[str, ...]:
        """Why rules could not be evaluated; not empty means that an admin is asked."""
        return tuple(trace.error for trace in self.trace if trace.error)

    def join(self, other: "Requirement") -> "Requirement":
        """The stricter of the two in every respect; the trace is `other`'s, the newer one."""
        outcome = max(self.outcome, other.outcome, key=OUTCOMES.index)
        if outcome != "require_approval":
            return Requirement(outcome=outcome, trace=other.trace)
        asking = [each for each in (self, other) if each.outcome == "require_approval"]
        return Requirement(
            outcome=outcome,
            demands=_without_weaker(demand for each in asking for demand in each.demands),
            answers=_common_answers(asking),
            reason_required=any(each.reason_required for each in asking),
            response_timeout=min(each.response_timeout for each in asking),
            working_time=all(each.working_time for each in asking),
            calendars=tuple(dict.fromkeys(key for each in asking for key in each.calendars)),
            on_timeout=max((each.on_timeout for each in asking), key=SILENCES.index),
            escalation=next((each.escalation for each in asking if each.escalation), None),
            trace=other.trace,
        )

    def covers(self, other: "Requirement") -> bool:
        """Whether what met this requirement meets `other` too: `other` demands nothing more of people."""
        if OUTCOMES.index(other.outcome) > OUTCOMES.index(self.outcome):
            return False
        return set(self.join(other).demands) == set(self.demands)

    def stricter_than(self, other: "Requirement") -> bool:
        """Whether this demands something of people that `other` did not."""
        return not other.covers(self)

    def as_json(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome,
            "demands": [demand.as_json() for demand in self.demands],
            "answers": list(self.answers),
            "reason_required": self.reason_required,
            "response_timeout": self.response_timeout,
            "working_time": self.working_time,
            "calendars": list(self.calendars),
            "on_timeout": self.on_timeout,
            "escalation": str(self.escalation) if self.escalation else None,
            "trace": [trace.as_json() for trace in self.trace],
        }


def from_json(written: Mapping[str, Any]) -> Requirement:
    """The requirement that `as_json` wrote."""
    return Requirement(
        outcome=written["outcome"],
        demands=tuple(
            Demand(each["approvals"], tuple(Place(**place) for place in each["places"])) for each in written["demands"]
        ),
        answers=tuple(written["answers"]),
        reason_required=written["reason_required"],
        response_timeout=written["response_timeout"],
        working_time=written["working_time"],
        calendars=tuple(written.get("calendars", ())),
        on_timeout=written["on_timeout"],
        escalation=UUID(written["escalation"]) if written["escalation"] else None,
        trace=tuple(_trace(each) for each in written["trace"]),
    )


def _trace(written: Mapping[str, Any]) -> Trace:
    values = tuple((str(name), str(value)) for name, value in written["values"])
    places = tuple(Place(**place) for place in written["places"])
    return Trace(**{**written, "values": values, "places": places})


@dataclass(frozen=True)
class Voter:
    """One person whose approval stands: which places the person fills; `anywhere` for people of a level."""

    key: str
    places: frozenset[tuple[str, str]] = frozenset()
    anywhere: bool = False

    def fills(self, place: Place) -> bool:
        return self.anywhere or (place.kind, place.key) in self.places


@dataclass(frozen=True)
class Gap:
    """So many people of `places` are still to approve. One person may fill gaps of several demands at once."""

    number: int
    places: tuple[Place, ...]


def missing(requirement: Requirement, voters: Collection[Voter]) -> int:
    """How many more approvals are needed at the least; 0 means the requirement is met."""
    return max((_missing(demand, voters) for demand in requirement.demands), default=0)


def progress(requirement: Requirement, voters: Collection[Voter]) -> tuple[int, int]:
    """How many of `voters` fill a place, and how many approvals are needed in all."""
    given = sum(1 for each in voters if any(each.fills(place) for place in requirement.of))
    lacking = missing(requirement, voters)
    return given, max(requirement.approvals, given + lacking) if lacking else max(requirement.approvals, 1)


def may_grow(requirement: Requirement) -> bool:
    """Whether an approval can leave as many to go as before, so that the number needed is only the least there are."""
    return len(requirement.demands) > 1 or any(
        place.at_least for demand in requirement.demands for place in demand.places if len(demand.places) > 1
    )


def gaps(requirement: Requirement, voters: Collection[Voter]) -> tuple[Gap, ...]:
    """What is still to be filled, demand by demand; none means the requirement is met."""
    return tuple(dict.fromkeys(gap for demand in requirement.demands for gap in _gaps(demand, voters)))


def _gaps(demand: Demand, voters: Collection[Voter]) -> list[Gap]:
    inside = _inside(demand, voters)
    seats = _seats(demand)
    taken = _seated(seats, inside)
    empty = Counter(place for index, place in enumerate(seats) if index not in taken)
    rest = _missing(demand, voters) - empty.total()
    found = [Gap(number, (place,)) for place, number in empty.items()]
    return [*found, Gap(rest, demand.pool)] if rest > 0 else found


def _missing(demand: Demand, voters: Collection[Voter]) -> int:
    inside = _inside(demand, voters)
    seats = _seats(demand)
    unseated = len(seats) - len(_seated(seats, inside))
    # A vote beyond the seats still counts for the number, up to what the seats leave open.
    return max(demand.approvals - len(inside), unseated, 0)


def _inside(demand: Demand, voters: Collection[Voter]) -> list[Voter]:
    return [voter for voter in voters if any(voter.fills(place) for place in demand.pool)]


def _seats(demand: Demand) -> list[Place]:
    return [place for place in demand.places for _ in range(place.at_least)]


def _seated(seats: list[Place], voters: Collection[Voter]) -> Collection[int]:
    """The seats, as many as can be, that different people fill (a bipartite matching by augmenting paths)."""
    taken: dict[int, Voter] = {}

    def seat(voter: Voter, tried: set[int]) -> bool:
        for index, place in enumerate(seats):
            if index in tried or not voter.fills(place):
                continue
            tried.add(index)
            if index not in taken or seat(taken[index], tried):
                taken[index] = voter
                return True
        return False

    for voter in voters:
        seat(voter, set())
    return taken.keys()


def _without_weaker(demands: Iterable[Demand]) -> tuple[Demand, ...]:
    """The demands without those that another one implies; two with the same pool and no seats merge."""
    kept = list(dict.fromkeys(demands))
    for one, two in combinations(tuple(kept), 2):
        if one in kept and two in kept and (weaker := _weaker(one, two)):
            kept.remove(weaker)
    return tuple(sorted(kept, key=repr))


def _weaker(one: Demand, two: Demand) -> Demand | None:
    if _implies(one, two):
        return two
    return one if _implies(two, one) else None


def _implies(strong: Demand, weak: Demand) -> bool:
    """Whether whoever meets `strong` meets `weak`: same people, at least as many in number and in each seat."""
    seats = {(place.kind, place.key): place.at_least for place in strong.pool}
    same = {(place.kind, place.key) for place in weak.pool} == set(seats)
    return (
        same
        and strong.approvals >= weak.approvals
        and all(seats[place.kind, place.key] >= place.at_least for place in weak.pool)
    )


def _common_answers(asking: list[Requirement]) -> tuple[str, ...]:
    """The answers all of them allow; to say no is always left."""
    common = [answer for answer in ANSWERS if all(answer in each.answers for each in asking)]
    return tuple(common) or ("reject",)
