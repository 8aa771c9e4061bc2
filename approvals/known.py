"""What a sweep reads once for many requests: people, levels and ways out, while the tenant's stamp and time last."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from approvals import escalations, reviewers
from approvals.escalations import Levels
from approvals.hands import Row
from approvals.notifications import ways
from approvals.notifications.ways import Ear, Ways
from approvals.reviewers import Asking, Verdict
from approvals.rosters import Roster, roster


class Known:
    """One thread's, for seconds. Each request's row, read under its lock, says whether what is known still holds."""

    def __init__(self) -> None:
        self._people: dict[UUID, Roster] = {}
        self._levels: dict[tuple[UUID, int, UUID], Levels] = {}

    def people(self, row: Row) -> Roster:
        """The people of the request's tenant, at the moment of the row."""
        found = self._people.get(row.request.tenant_id)
        if found is None or not found.holds(stamp=row.stamp, now=row.now):
            found = self._people[row.request.tenant_id] = roster()
        return replace(found, now=max(found.now, row.now))

    def asking(self, row: Row) -> Asking:
        """What the guard needs to know of the request, with the answers that were given."""

        def levels_of(policies: Iterable[UUID]) -> dict[UUID | None, Levels]:
            keys = [(row.request.tenant_id, row.stamp, policy) for policy in policies]
            missing = escalations.levels_of(key[2] for key in keys if key not in self._levels)
            self._levels |= {key: missing[key[2]] for key in keys if key[2] in missing}
            return {key[2]: self._levels[key] for key in keys if key in self._levels}

        return row.asks(levels_of)


class Alike:
    """What requests that were read together have in common: who may answer those that ask alike, who can be told."""

    def __init__(self, people: Roster) -> None:
        self._people = people
        self._askings: dict[tuple[object, ...], Asking] = {}
        self._able: dict[tuple[object, ...], tuple[Asking, dict[UUID, Verdict]]] = {}
        self._ears: dict[UUID, Ear | None] = {}
        self._out: Ways | None = None

    def asking(self, row: Row, known: Known) -> Asking:
        """As `Known.asking`, of a request without answers and reassignments; of those that ask alike the same one."""
        request = row.request
        if request.own_requirement is not None:
            return known.asking(row)
        key = (request.requirement_digest, request.escalation_level, *request.initiators, request.agent, request.risk)
        if key not in self._askings:
            self._askings[key] = known.asking(row)
        return self._askings[key]

    def able(self, people: Roster, ask: Asking) -> dict[UUID, Verdict]:
        """As `reviewers.able`, judged once for all that ask alike: by the same requirement, which is kept meanwhile."""
        key = (id(ask.requirement), id(ask.escalation), ask.level, ask.initiators, ask.agent, ask.risk)
        if key not in self._able:
            self._able[key] = ask, reviewers.able(people, ask)
        return self._able[key][1]

    @property
    def out(self) -> Ways:
        """The tenant's ways out."""
        self._out = self._out or ways.read()
        return self._out

    def ears(self, members: Sequence[UUID]) -> list[Ear]:
        """The active ones of these members, with how they wish to be told."""
        unknown = [each for each in members if each not in self._ears]
        if unknown:
            found = {ear.member.pk: ear for ear in ways.ears(unknown, self.out)}
            self._ears |= {each: found.get(each) for each in unknown}
        return [ear for each in members if (ear := self._ears[each])]
