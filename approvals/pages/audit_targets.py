"""What the targets and the keys on a page of the audit are called: as they were then, where anything still says it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import TextField
from django.db.models.functions import Cast

from approvals.models import Calendar, Channel, EscalationPolicy, PolicyRule, RequestVersion, Rotation
from approvals.pages import audit_tries
from tenants import audit_log, ids, keys
from tenants.models import ApiKey, AuditEntry, Group, Member

SPOKEN = ("request", "run")
"""Kinds whose names many share: what tells them apart stands beside the name."""
NAMELESS = ("tenant", "delegation", "delivery", "path")
ROWS: Mapping[str, Any] = {
    "calendar": Calendar,
    "channel": Channel,
    "escalation_policy": EscalationPolicy,
    "group": Group,
    "policy": PolicyRule,
    "rotation": Rotation,
}
"""Tables whose rows have a name of their own."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Target:
    """What an entry is about: what it was called, and what tells it from others of that name."""

    kind: str
    key: str
    name: str = ""
    mark: str = ""

    @property
    def text(self) -> str:
        """The target as entries write it."""
        return f"{self.kind}:{self.key}"


@dataclass(frozen=True)
class Names:
    """What the targets on a page are called: requests by each of their versions, runs as they were started, the rest
    as they are today."""

    versions: Mapping[str, Sequence[RequestVersion]]
    called: Mapping[str, str]
    keys: Mapping[str, ApiKey]

    def target(self, row: Row) -> Target:
        """The target of an entry, by the name that the entry itself, its version or its thing tells."""
        kind, key = parts(row)
        detail = row["detail"] or {}
        found = ids.parse(key) if kind not in ("agent", "tool") else None
        name = self._name(kind, key, row["at"], detail)
        if kind == "key" and found:
            return Target(kind, key, name, keys.mark(found))
        spoken = kind in SPOKEN or (not name and kind not in NAMELESS)
        return Target(kind, key, name, ids.reference(found) if found and spoken else "")

    def _name(self, kind: str, key: str, at: datetime, detail: Mapping[str, Any]) -> str:
        if kind == "request":
            return _title(self.versions.get(key, ()), at, detail)
        if kind in ("agent", "tool"):
            return key
        if kind in NAMELESS:
            return ""
        said = detail.get("name") or detail.get("called") or (detail.get("body") or {}).get("name")
        return str(said or detail.get("title") or self.called.get(key, ""))


def parts(row: Row) -> tuple[str, str]:
    """The kind and the id of what an entry is about; of a refused call, what its address names."""
    kind, _colon, key = str(row["target"]).partition(":")
    if kind == "path" and (named := audit_tries.target(key)):
        kind, _colon, key = named.partition(":")
    return kind, key


def names(rows: Iterable[Row]) -> Names:
    """What everything on the page is called; six queries at most, whatever the number of entries."""
    found = list(rows)
    wanted: dict[str, set[UUID]] = {}
    for kind, text in map(parts, found):
        if key := ids.parse(text):
            wanted.setdefault(kind, set()).add(key)
    acted = {key for row in found if row["actor"]["kind"] == "key" and (key := ids.parse(row["actor"]["id"]))}
    held = ApiKey.objects.select_related("owner__person").filter(pk__in=acted | wanted.get("key", set()))
    by_key = {str(row.pk): row for row in held}
    named = {key: row.name for key, row in by_key.items()}
    called = {**_people(wanted), **_runs(wanted.get("run", set())), **_rows(wanted), **named}
    return Names(_versions(wanted.get("request", set())), called, by_key)


def _versions(requests: set[UUID]) -> dict[str, list[RequestVersion]]:
    rows = RequestVersion.objects.filter(request_id__in=requests).order_by("number")
    found: dict[str, list[RequestVersion]] = {}
    for row in rows.only("request_id", "number", "title", "created_at"):
        found.setdefault(str(row.request_id), []).append(row)
    return found


def _title(versions: Sequence[RequestVersion], at: datetime, detail: Mapping[str, Any]) -> str:
    """The title of the version that the entry names, else of the one that stood at its time."""
    named = [row for row in versions if row.number == detail.get("version")]
    stood = [row for row in versions if row.created_at <= at] or versions[:1]
    return next((row.title for row in (*named, *reversed(stood))), "")


def _people(wanted: Mapping[str, set[UUID]]) -> dict[str, str]:
    members = Member.objects.select_related("person")
    rows = list(
        members.filter(pk__in=wanted.get("member", ())) | members.filter(person_id__in=wanted.get("person", ()))
    )
    return {**{str(row.pk): row.name for row in rows}, **{str(row.person_id): row.name for row in rows}}


def _rows(wanted: Mapping[str, set[UUID]]) -> dict[str, str]:
    found = [
        model.objects.filter(pk__in=wanted[kind]).values_list("pk", Cast("name", TextField()))
        for kind, model in ROWS.items()
        if kind in wanted
    ]
    return {str(key): name for key, name in found[0].union(*found[1:], all=True)} if found else {}


def _runs(runs: set[UUID]) -> dict[str, str]:
    """The title or else the agent of each run, as the entry of its start tells."""
    targets = [f"run:{key}" for key in runs]
    starts = AuditEntry.objects.filter(target__in=targets, action="run.started") if targets else ()
    told = audit_log.shown(starts) if targets else []
    said = {row["target"].partition(":")[2]: row["detail"] or {} for row in told}
    return {key: str(detail.get("title") or detail.get("agent") or "") for key, detail in said.items()}
