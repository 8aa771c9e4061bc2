"""Escalation policies: who is asked next and when, as pure schedules over what an admin wrote."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from approvals.models import EscalationPolicy


@dataclass(frozen=True)
class Level:
    """People who are asked as well, `after` seconds from the request's opening."""

    after: int
    groups: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()

    def names(self, member: UUID, groups: Iterable[str]) -> bool:
        """Whether this level asks the member, by name or by one of these groups."""
        return str(member) in self.members or not self.groups.isdisjoint(groups)


@dataclass(frozen=True)
class Rung:
    """One step of the schedule: when, which level it reaches, and whether it only repeats the asking."""

    at: datetime
    level: int
    repeat: bool


def level_from_json(written: Mapping[str, Any]) -> Level:
    """The level as an admin wrote it."""
    return Level(int(written["after"]), frozenset(written["groups"]), frozenset(written["members"]))


@dataclass(frozen=True)
class Levels:
    """A policy's levels in their order; the whole list is gone through `repeats` times more."""

    levels: tuple[Level, ...] = ()
    repeats: int = 0


NONE = Levels()


def levels_of(policies: Iterable[UUID]) -> dict[UUID | None, Levels]:
    """The levels of each of these policies, with at most one query."""
    wanted = list(policies)
    found = EscalationPolicy.objects.filter(pk__in=wanted) if wanted else ()
    return {each.id: Levels(tuple(level_from_json(level) for level in each.levels), each.repeats) for each in found}


def schedule(escalation: Levels, *, opened_at: datetime) -> tuple[Rung, ...]:
    """When each level is reached; the whole list comes again `repeats` times, then no more."""
    levels = escalation.levels
    if not levels:
        return ()
    cycle = max(levels[-1].after, 1)
    return tuple(
        Rung(
            at=opened_at + timedelta(seconds=turn * cycle + level.after),
            level=index if turn == 0 else len(levels),
            repeat=turn > 0,
        )
        for turn in range(escalation.repeats + 1)
        for index, level in enumerate(levels, start=1)
    )
