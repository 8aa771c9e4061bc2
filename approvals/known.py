"""What a sweep reads once for many requests: people and levels, good while the tenant's stamp and their time last."""

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from approvals import escalations
from approvals.escalations import Levels
from approvals.hands import Row
from approvals.reviewers import Asking
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
