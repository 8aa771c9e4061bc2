"""The audit as its page shows it: each entry as a sentence, one of them in full, and whether the chain holds."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals.display import Shown, beginning, shown
from approvals.models import ApprovalRequest, RequestVersion
from tenants import exact_json, ids, verification, wording
from tenants.models import AuditEntry, AuditHead, Group, Member
from tenants.scope import current

CHECKED_AT_ONCE = 2000
WORDS: Mapping[str, str | Promise] = {
    "agent.changed": gettext_lazy("switched the agent"),
    "approval.commented": gettext_lazy("commented on"),
    "approval.decided": gettext_lazy("answered"),
    "approval.escalated": gettext_lazy("asked the next level about"),
    "approval.reassigned": gettext_lazy("let another member answer"),
    "calendar.archived": gettext_lazy("archived the calendar"),
    "calendar.changed": gettext_lazy("changed the calendar"),
    "calendar.created": gettext_lazy("made the calendar"),
    "delegation.created": gettext_lazy("let somebody stand in"),
    "delegation.withdrawn": gettext_lazy("ended a stand-in"),
    "escalation_policy.archived": gettext_lazy("archived the escalation policy"),
    "escalation_policy.changed": gettext_lazy("changed the escalation policy"),
    "escalation_policy.created": gettext_lazy("made the escalation policy"),
    "group.changed": gettext_lazy("changed the group"),
    "group.created": gettext_lazy("made the group"),
    "group.deleted": gettext_lazy("deleted the group"),
    "key.created": gettext_lazy("made the key"),
    "key.revoked": gettext_lazy("ended the key"),
    "member.added": gettext_lazy("made a member of"),
    "member.changed": gettext_lazy("changed the member"),
    "override.created": gettext_lazy("let somebody step in for the rotation"),
    "override.withdrawn": gettext_lazy("ended a stepping in for the rotation"),
    "person.sign_in_failed": gettext_lazy("a sign-in failed for"),
    "person.signed_in": gettext_lazy("signed in"),
    "policy.archived": gettext_lazy("took out of force the rule"),
    "policy.changed": gettext_lazy("changed the rule"),
    "policy.created": gettext_lazy("made the rule"),
    "policy.published": gettext_lazy("made live the rule"),
    "request.refused": gettext_lazy("was refused"),
    "rotation.archived": gettext_lazy("archived the rotation"),
    "rotation.changed": gettext_lazy("changed the rotation"),
    "rotation.created": gettext_lazy("made the rotation"),
    "run.cancelled": gettext_lazy("stopped the run"),
    "run.commented": gettext_lazy("commented on the run"),
    "run.paused": gettext_lazy("paused the run"),
    "run.resumed": gettext_lazy("resumed the run"),
    "run.retried": gettext_lazy("retried the run"),
    "run.settled": gettext_lazy("settled an outcome of the run"),
    "run.started": gettext_lazy("started the run"),
    "runs.purged": gettext_lazy("deleted runs past their time"),
    "settings.changed": gettext_lazy("changed the settings"),
    "tenant.created": gettext_lazy("founded the organisation"),
    "tool.changed": gettext_lazy("changed the tool"),
}
DECISIONS: Mapping[str, str | Promise] = {
    "approve": gettext_lazy("approved"),
    "edit": gettext_lazy("edited and approved"),
    "reject": gettext_lazy("rejected"),
    "respond": gettext_lazy("answered in place of the tool"),
}
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
    text: Shown
    refused: bool
    target_url: str
    by: str


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


@dataclass(frozen=True)
class Names:
    """What the targets on a page are called: requests by each of their versions, the rest as they are today."""

    versions: Mapping[str, Sequence[RequestVersion]]
    people: Mapping[str, str]
    groups: Mapping[str, str]


def chain(*, asked: bool) -> ChainView | None:
    """Whether the chain holds: read at once while it is short, else when somebody asks."""
    head = AuditHead.objects.filter(pk=current()).first()
    if head is None or (head.seq > CHECKED_AT_ONCE and not asked):
        return None
    verdict = verification.verify()
    return ChainView(verdict.holds, 1, verdict.proved, timezone.now(), verdict.fault or "")


def lines(rows: Sequence[Mapping[str, Any]], reader: Member, base: str, query: str) -> list[EntryLine]:
    """The entries, each as a sentence; four queries whatever their number. What the reader may not open is no link."""
    names = _names(rows)
    open_to = {kind for kind, (_path, roles) in PAGES.items() if reader.has(*roles)}
    return [_line(row, names, base, query, open_to) for row in rows]


def entry(row: AuditEntry, told: Mapping[str, Any], base: str) -> EntryView:
    """One entry in full; what is personal in it may have been blanked."""
    found = [Fact(_("what"), shown(row.action)), Fact(_("target"), shown(row.target))]
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
    kind, _colon, key = str(row["target"]).partition(":")
    url = f"{base}{PAGES[kind][0]}{key}/" if kind in open_to and ids.parse(key) else ""
    return EntryLine(
        number=row["seq"],
        url=f"{base}audit/?{query}entry={row['seq']}#entry",
        at=row["at"],
        who=wording.actor(row["actor"]) or str(row["actor"]["kind"]),
        text=shown(_sentence(row, kind, key, names)),
        refused=row["refused"],
        target_url=url,
        by=str(CHANNELS.get(row["channel"], row["channel"])),
    )


def _sentence(row: Mapping[str, Any], kind: str, key: str, names: Names) -> str:
    detail = row["detail"] or {}
    verb = str(WORDS.get(row["action"], row["action"]))
    if row["action"] == "approval.decided":
        verb = str(DECISIONS.get(str(detail.get("decision")), verb))
    target = "" if row["action"] == "person.signed_in" else _target(kind, key, row["at"], detail, names)
    return f"{verb} {target}".strip()


def _target(kind: str, key: str, at: datetime, detail: Mapping[str, Any], names: Names) -> str:
    """What the thing was called then, where the entry or the thing's own versions still say it."""
    if kind == "request":
        return _title(names.versions.get(key, ()), at, detail) or key[:8]
    named = detail.get("name") or detail.get("called") or (detail.get("body") or {}).get("name") or detail.get("title")
    if named or kind in ("agent", "tool", "path"):
        return str(named or key)
    if kind in ("member", "person"):
        return names.people.get(key, key[:8])
    if kind == "group":
        return names.groups.get(key, key[:8])
    return "" if kind in ("tenant", "delegation") else key[:8]


def _title(versions: Sequence[RequestVersion], at: datetime, detail: Mapping[str, Any]) -> str:
    """The title of the version that the entry names, else of the one that stood at its time."""
    named = [row for row in versions if row.number == detail.get("version")]
    stood = [row for row in versions if row.created_at <= at] or versions[:1]
    return next((row.title for row in (*named, *reversed(stood))), "")


def _names(rows: Iterable[Mapping[str, Any]]) -> Names:
    wanted: dict[str, set[Any]] = {}
    for row in rows:
        kind, _colon, key = str(row["target"]).partition(":")
        if found := ids.parse(key):
            wanted.setdefault(kind, set()).add(found)
    versions = RequestVersion.objects.filter(request_id__in=wanted.get("request", ())).order_by("number")
    members = Member.objects.select_related("person")
    people = members.filter(pk__in=wanted.get("member", ())) | members.filter(person_id__in=wanted.get("person", ()))
    called = list(people)
    titles: dict[str, list[RequestVersion]] = {}
    for version in versions.only("request_id", "number", "title", "created_at"):
        titles.setdefault(str(version.request_id), []).append(version)
    return Names(
        versions=titles,
        people={**{str(row.pk): row.name for row in called}, **{str(row.person_id): row.name for row in called}},
        groups={str(row.pk): row.name for row in Group.objects.filter(pk__in=wanted.get("group", ()))},
    )
