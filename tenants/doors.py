"""The narrow doors across tenants: functions of the owner that return ids and numbers, and nothing else."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

COUNTS: list[str] = []
"""Names of owner's functions that return rows of (name, value); each floor adds its own when it is ready."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Membership:
    """One active membership of a person, as the door shows it."""

    tenant: UUID
    slug: str
    tenant_name: str
    stamp: int
    member: UUID
    roles: tuple[str, ...]


def memberships(person: UUID) -> list[Membership]:
    """The active memberships of a person in all tenants, by slug."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenant, slug, tenant_name, stamp, member, roles FROM memberships(%s)", [str(person)])
        return [
            Membership(tenant=tenant, slug=slug, tenant_name=name, stamp=stamp, member=member, roles=tuple(roles))
            for tenant, slug, name, stamp, member, roles in cursor.fetchall()
        ]


def membership(person: UUID, slug: str) -> Membership | None:
    """The person's active membership of the tenant with this slug, or None: a foreign one is unknown."""
    return next((each for each in memberships(person) if each.slug == slug), None)


def due(kind: str, limit: int) -> list[tuple[UUID, UUID]]:
    """At most `limit` pairs (tenant, id) that are due, from the owner's function `due_<kind>(int)`.

    Nothing is locked: each is to be handled alone, under its own lock, and read again.
    """
    _demand_name(kind)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM due_{kind}(%s)", [limit])  # noqa: S608  # The name is checked.
        return [(row[0], row[1]) for row in cursor.fetchall()]


def due_in_lanes(kind: str, limit: int, *, among: Sequence[str]) -> list[tuple[UUID, UUID, str]]:
    """As `due`, with the lane each goes by: what goes the same way out; only what is `among` the names known here."""
    _demand_name(kind)
    with connection.cursor() as cursor:
        query = f"SELECT tenant, id, lane FROM due_{kind}(%s, %s)"  # noqa: S608  # The name is checked.
        cursor.execute(query, [limit, list(among)])
        return [(row[0], row[1], row[2]) for row in cursor.fetchall()]


def counts() -> dict[str, int]:
    """Numbers over all tenants, by name: what the metrics page shows."""
    found: dict[str, int] = {}
    with connection.cursor() as cursor:
        for name in COUNTS:
            _demand_name(name)
            cursor.execute(f"SELECT * FROM {name}()")  # noqa: S608  # The name is checked.
            found.update({str(key): int(value) for key, value in cursor.fetchall()})
    return found


def forget(kind: str, limit: int = 1000) -> int:
    """Delete what is past its time, by the owner's function `forget_<kind>(int)`; how many rows there were."""
    _demand_name(kind)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT forget_{kind}(%s)", [limit])
        return int(cursor.fetchone()[0])


def _demand_name(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z_]*", name):
        raise ValueError(f"{name!r} names no function.")
