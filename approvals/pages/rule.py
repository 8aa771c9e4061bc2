"""Rules and trials as their pages show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals.display import Shown, shown
from approvals.models import PolicyRule, PolicyVersion
from approvals.pages import people
from approvals.requirements import Place
from approvals.rosters import Roster


@dataclass(frozen=True)
class RuleRow:
    """One rule in the list, by its live version, or by its last where none is live."""

    url: str
    name: str
    version: int | None
    draft: bool
    tools: Sequence[str]
    condition: str
    outcome: str
    approvals: int
    of: Sequence[str]
    is_default: bool
    changed_at: datetime
    changed_by: str


@dataclass(frozen=True)
class TrialRow:
    """One past call that would go another way."""

    title: Shown
    at: datetime
    live: str
    draft: str
    came: str
    url: str = ""


@dataclass(frozen=True)
class TrialView:
    """What a draft would have changed on past calls."""

    calls: int
    from_: datetime
    to: datetime
    live: int
    draft: int
    changed: int
    unreadable: int
    work: str
    rows: Sequence[TrialRow]


@dataclass(frozen=True)
class RuleView:
    """One rule: what is live, what is being drafted, and what a trial said."""

    url: str
    rules_url: str
    name: str
    is_default: bool = False
    version: int | None = None
    live_since: datetime | None = None
    live_by: str = ""
    live_when: str = ""
    draft_version: int | None = None
    next_version: int = 1
    trial: TrialView | None = None
    warnings: Sequence[str] = ()


def row(rule: PolicyRule, names: Roster, base: str) -> RuleRow:
    """A rule of the list; its versions are read already."""
    every = {each.number: each for each in rule.versions.all()}
    last = max(every)
    shown_one = every[rule.live or last]
    body = shown_one.body
    return RuleRow(
        url=f"{base}{rule.pk}/",
        name=rule.name,
        version=rule.live,
        draft=rule.live is None or last > rule.live,
        tools=body["tools"],
        condition=body["when"] or "",
        outcome="" if rule.is_default else body["outcome"],
        approvals=0 if rule.is_default else body["approvals"],
        of=[people.place_name(Place(**each), names) for each in body["of"]],
        is_default=rule.is_default,
        changed_at=shown_one.created_at,
        changed_by=str(shown_one.author.get("name", "")),
    )


def view(rule: PolicyRule, base: str, *, trial: TrialView | None, warnings: Sequence[str]) -> RuleView:
    """The page of one rule."""
    every: dict[int, PolicyVersion] = {each.number: each for each in rule.versions.all()}
    last, live = max(every), every.get(rule.live or 0)
    return RuleView(
        url=f"{base}{rule.pk}/",
        rules_url=base,
        name=rule.name,
        is_default=rule.is_default,
        version=rule.live,
        live_since=live.created_at if live else None,
        live_by=str(live.author.get("name", "")) if live else "",
        live_when=(live.body["when"] or "") if live else "",
        draft_version=last if last > (rule.live or 0) else None,
        next_version=last + 1,
        trial=trial,
        warnings=warnings,
    )


def tried(told: Mapping[str, Any], *, now: datetime, base: str) -> TrialView:
    """The answer of `approvals.trials.run`, for the page."""
    before, after = told["before"], told["after"]
    more = after["answers"] - before["answers"]
    return TrialView(
        calls=told["calls"],
        from_=told["since"],
        to=now,
        live=before["require_approval"],
        draft=after["require_approval"],
        changed=told["changed"],
        unreadable=after["not_evaluable"],
        work=ngettext("%(n)s answer more", "%(n)s answers more", more) % {"n": more} if more > 0 else "",
        rows=[_example(each, base) for each in told["examples"]],
    )


def _example(each: Mapping[str, Any], base: str) -> TrialRow:
    kind, _colon, key = each["subject"].partition(":")
    url = f"{base}runs/{key}/" if kind == "run" else ""
    return TrialRow(shown(each["summary"]), each["at"], _told(each["before"]), _told(each["after"]), _came(each), url)


def _told(need: Mapping[str, Any]) -> str:
    if need["errors"]:
        return _("could not be read: an admin is asked")
    words = {"allow": _("runs unasked"), "deny": _("refused")}
    asks = ngettext("asks one", "asks %(n)s", need["approvals"]) % {"n": need["approvals"]}
    return words.get(need["outcome"], asks)


def _came(each: Mapping[str, Any]) -> str:
    words = {
        "approved": _("approved"),
        "rejected": _("rejected"),
        "responded": _("answered in its place"),
        "expired": _("expired"),
        "pending": _("still waits"),
        "cancelled": _("stopped"),
        "superseded": _("replaced"),
        "completed": _("completed"),
        "failed": _("failed"),
        "unknown": _("outcome unknown"),
        "not_done": _("not done"),
    }
    came = str(each["came_of_it"])
    return words.get(came, came)
