"""The audit as its page shows it: each entry as a sentence, one of them in full, and whether the chain holds."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals.display import Shown, beginning, shown
from approvals.models import ApprovalRequest
from approvals.pages import audit_targets, audit_words
from approvals.pages.audit_targets import Names, Target
from tenants import exact_json, ids, keys, verification, wording
from tenants.models import AuditEntry, AuditHead, Member
from tenants.scope import current

CHECKED_AT_ONCE = 2000
CHANNELS: Mapping[str, str | Promise] = {
    "page": gettext_lazy("page"),
    "api": gettext_lazy("API"),
    "bulk": gettext_lazy("page, several at once"),
    "link": gettext_lazy("link"),
    "callback": gettext_lazy("chat"),
    "command": gettext_lazy("command"),
}
PAGES = {
    "request": ("requests/", ("reviewer", "manager")),
    "run": ("runs/", ("manager",)),
    "policy": ("settings/policies/", ("admin",)),
    "escalation_policy": ("settings/escalation/", ("admin",)),
    "calendar": ("settings/calendars/", ("admin",)),
    "rotation": ("settings/rotations/", ("admin", "manager", "reviewer")),
}


@dataclass(frozen=True)
class EntryLine:
    """One entry of the list."""

    number: int
    url: str
    at: datetime
    who: str
    text: str
    target: Shown
    refused: bool
    target_url: str
    by: str
    with_key: str = ""
    key_mark: str = ""
    mark: str = ""
    """What tells the target from others of its name."""
    mark_url: str = ""
    because: str = ""
    """Why it was refused."""


@dataclass(frozen=True)
class Fact:
    """One thing an entry holds."""

    name: str
    value: Shown
    about: str = ""
    checked: str = ""
    was: Shown | None = None


@dataclass(frozen=True)
class EntryView:
    """One entry in full."""

    number: int
    facts: Sequence[Fact]
    digest: str
    before: str
    before_number: int | None
    proof_url: str = ""
    """Where the whole record of the run lies that the entry is about."""


@dataclass(frozen=True)
class ChainView:
    """How far the chain is proved. Every entry is signed as it is written."""

    holds: bool
    first: int
    last: int
    checked_at: datetime
    words: str
    signed_at: datetime | None = None
    signed_to: int | None = None
    unsigned: int = 0


def chain(*, asked: bool) -> ChainView | None:
    """Whether the chain holds: read at once while it is short, else when somebody asks."""
    head = AuditHead.objects.filter(pk=current()).first()
    if head is None or (head.seq > CHECKED_AT_ONCE and not asked):
        return None
    verdict = verification.verify()
    return ChainView(verdict.holds, 1, verdict.proved, timezone.now(), verdict.fault or "")


def lines(rows: Sequence[Mapping[str, Any]], reader: Member, base: str, query: str) -> list[EntryLine]:
    """The entries, each as a sentence; as many queries whatever their number. What the reader may not open is no
    link."""
    names = audit_targets.names(rows)
    open_to = {kind for kind, (_path, roles) in PAGES.items() if reader.has(*roles)}
    return [_line(row, names, base, query, open_to) for row in rows]


def about(target: str) -> str:
    """What one thing is called by whose entries the page is narrowed, with what tells it from others."""
    if not target:
        return ""
    named = {"target": target, "at": timezone.now(), "detail": None, "actor": {"kind": "system", "id": ""}}
    found = audit_targets.names([named]).target(named)
    return " ".join(part for part in (str(shown(found.name)), found.mark) if part)


def entry(row: AuditEntry, told: Mapping[str, Any], base: str) -> EntryView:
    """One entry in full; what is personal in it may have been blanked."""
    names = audit_targets.names([told])
    found = [Fact(_("who"), shown(_who(told)), about=f"{_by_key(told, names)} {_key_mark(told)}".strip())]
    found.append(Fact(_("did"), shown(_sentence(told, names)), about=_because(told)))
    found += [Fact(_("what"), shown(row.action)), Fact(_("target"), shown(row.target))]
    if told["detail"] is None:
        found.append(Fact(_("content"), shown(_("blanked")), about=_("The chain holds without it.")))
    for name, value in (told["detail"] or {}).items():
        text = value if isinstance(value, str) else exact_json.dumps(value)
        found.append(Fact(str(name), beginning(text, 2000)))
    return EntryView(row.seq, found, row.digest, row.previous, row.seq - 1 or None, _proof(row, base))


def _proof(row: AuditEntry, base: str) -> str:
    kind, _colon, key = row.target.partition(":")
    if kind == "request" and ids.parse(key):
        subject = ApprovalRequest.objects.filter(pk=key).values_list("subject", flat=True).first()
        kind, _colon, key = (subject or "").partition(":")
    return f"{base}runs/{key}/proof/" if kind == "run" and ids.parse(key) else ""


def _line(row: Mapping[str, Any], names: Names, base: str, query: str, open_to: Collection[str]) -> EntryLine:
    target = names.target(row)
    url = f"{base}{PAGES[target.kind][0]}{target.key}/" if target.kind in open_to and ids.parse(target.key) else ""
    return EntryLine(
        number=row["seq"],
        url=f"{base}audit/?{query}entry={row['seq']}#entry",
        at=row["at"],
        who=_who(row),
        with_key=_by_key(row, names),
        key_mark=_key_mark(row),
        text=_verb(row),
        target=shown(_object(row, target)),
        target_url=url,
        mark=target.mark,
        mark_url=f"{base}audit/?{urlencode({'about': target.text})}" if target.mark else "",
        refused=row["refused"],
        because=_because(row),
        by=_way(row),
    )


def _way(row: Mapping[str, Any]) -> str:
    """What the act came through; what was done at the command line says so, entered with a channel or without."""
    way = row["channel"] or ("command" if row["actor"]["kind"] == "command" else "")
    return str(CHANNELS.get(way, way))


def _who(row: Mapping[str, Any]) -> str:
    return wording.actor(row["actor"]) or str(row["actor"]["kind"])


def _by_key(row: Mapping[str, Any], names: Names) -> str:
    """Which of the keys acted; a personal one bears a name of its own beside its owner's."""
    key = ids.parse(row["actor"]["id"]) if row["actor"]["kind"] == "key" else None
    if key is None:
        return ""
    held = names.keys.get(str(key))
    if held is None:
        return _("an unknown key")
    return _("service key") if held.service else _("with the key “%(name)s”") % {"name": held.name}


def _key_mark(row: Mapping[str, Any]) -> str:
    key = ids.parse(row["actor"]["id"]) if row["actor"]["kind"] == "key" else None
    return keys.mark(key) if key else ""


def _verb(row: Mapping[str, Any]) -> str:
    detail = row["detail"] or {}
    wanted = audit_words.wanted(row["action"], detail) if row["refused"] else ""
    return wanted or audit_words.done(row["action"], detail)


def _because(row: Mapping[str, Any]) -> str:
    return audit_words.because(row["action"], row["detail"] or {}) if row["refused"] else ""


def _object(row: Mapping[str, Any], target: Target) -> str:
    """What it was done to; of a refused call that no page and no call of the API takes, what was sent where."""
    detail = row["detail"] or {}
    if row["action"] == "person.signed_in":
        return ""
    if target.kind == "path" and not audit_words.wanted(row["action"], detail):
        return f"{detail.get('method', '')} {target.key}".strip()
    return target.name


def _sentence(row: Mapping[str, Any], names: Names) -> str:
    target = names.target(row)
    return " ".join(part for part in (_verb(row), _object(row, target), target.mark) if part)
