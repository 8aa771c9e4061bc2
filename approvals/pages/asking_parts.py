"""The parts that say whom a request asks: levels, people, votes, and who is still needed; times are aware."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class RungPerson:
    """Somebody on a level: can, approved, rejected, away, barred or left, and why not."""

    name: str
    you: bool = False
    state: str = "can"
    why: str = ""
    in_place_of: str = ""
    until: datetime | None = None
    stand_in: str = ""
    """Of one who is away: until when, and who answers instead."""


@dataclass(frozen=True)
class PlaceLine:
    """A place that is asked, "" where it is the only one, and its people: those who can answer by name alone."""

    name: str
    plain: Sequence[str]
    people: Sequence[RungPerson]


@dataclass(frozen=True)
class DutyLine:
    """Who is on call, "" for nobody, until when, and who was passed over because they no longer answer requests.

    `begins` is when the first turn begins, where that is still to come.
    """

    name: str
    until: datetime
    you: bool = False
    begins: datetime | None = None
    instead_of: Sequence[str] = ()


@dataclass(frozen=True)
class RungLine:
    """One step of the ladder: a level, or the end that silence brings; `at` is None for a level that was `reached`
    ahead of its time and asked nobody new."""

    kind: str
    at: datetime | None
    name: str = ""
    current: bool = False
    reached: bool = False
    adds: bool = False
    places: Sequence[PlaceLine] = ()
    duties: Sequence[DutyLine] = ()


@dataclass(frozen=True)
class VoteLine:
    """One person's vote, or somebody who is looking."""

    name: str
    at: datetime
    you: bool = False
    decision: str = ""
    version: int = 0
    in_place_of: str = ""


@dataclass(frozen=True)
class GapLine:
    """How many more are needed of whom: "2", "Refund reviewers"; and who of them has not answered."""

    number: int
    of: str
    people: Sequence["Waiting"] = ()


@dataclass(frozen=True)
class Waiting:
    """Somebody whose answer is missing, from when on; None means now."""

    name: str
    from_: datetime | None = None


@dataclass(frozen=True)
class Later:
    """People who may answer from a moment on."""

    at: datetime
    names: Sequence[str]
