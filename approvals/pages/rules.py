"""Rules as their pages show them: the list, and one with its versions and what differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from approvals import durations, rules, staffing
from approvals.display import Shown, shown
from approvals.models import Calendar, EscalationPolicy, PolicyRule, PolicyVersion
from approvals.pages import people
from approvals.pages import staffing as staffing_page
from approvals.pages.staffing import CoverageView
from approvals.pages.trials import TrialView
from approvals.requirements import Place
from approvals.rosters import Roster, roster
from approvals.rule_forms import ANSWER_WORDS, OUTCOMES, REASONS, RISK_WORDS, SILENCES
from approvals.rule_warnings import warnings
from tenants import wording

HERE = "settings/policies/"
RULES = 200
VERSIONS = 50


@dataclass(frozen=True)
class RuleLine:
    """One rule of the list."""

    url: str
    name: str
    order: int
    version: int | None
    draft: bool
    tools: Sequence[str]
    agents: Sequence[str]
    condition: str
    outcome: str
    approvals: int
    of: Sequence[str]
    is_default: bool
    active: bool
    changed_at: datetime
    changed_by: str


@dataclass(frozen=True)
class ListView:
    """The tenant's rules in their order."""

    rules: Sequence[RuleLine]
    new_url: str


@dataclass(frozen=True)
class Difference:
    """A field of which two versions say something else."""

    name: str
    value: Shown
    was: Shown | None
    about: str = ""
    checked: str = ""


@dataclass(frozen=True)
class VersionLine:
    """One version, with what it changed."""

    number: int
    live: bool
    author: str
    at: datetime
    note: str
    differences: Sequence[Difference]
    may_restore: bool


@dataclass(frozen=True)
class RuleView:
    """One rule, or one to be made: that has no version, and no name before somebody typed one."""

    url: str
    rules_url: str
    name: str
    is_default: bool = False
    version: int | None = None
    live_since: datetime | None = None
    live_by: str = ""
    live_when: str | None = None
    draft_version: int | None = None
    next_version: int = 1
    warnings: Sequence[str] = ()
    versions: Sequence[VersionLine] = ()
    trial: TrialView | None = None
    coverage: CoverageView | None = None


def listed(base: str) -> ListView:
    """The list; five queries whatever its length."""
    names = roster()
    found = PolicyRule.objects.filter(archived_at__isnull=True).prefetch_related("versions")
    rows = found.order_by("is_default", "position", "created_at", "id")[:RULES]
    return ListView([_line(row, names, base) for row in rows], f"{base}{HERE}new/")


def one(
    rule: PolicyRule, base: str, *, body: Mapping[str, Any] | None = None, trial: TrialView | None = None
) -> RuleView:
    """A rule that is there; `body` is what was tried, else its last version's."""
    every = {row.number: row for row in rule.versions.order_by("number")}
    last, live = every[max(every)], every.get(rule.live or 0)
    staffed = staffing_page.view(staffing.of(body or last.body))
    return RuleView(
        url=f"{base}{HERE}{rule.pk}/",
        rules_url=base + HERE,
        name=rules.named(last.body["name"]),
        is_default=rule.is_default,
        version=rule.live,
        live_since=live.created_at if live else None,
        live_by=_author(live) if live else "",
        live_when=(live.body["when"] or "") if live else None,
        draft_version=last.number if last is not live else None,
        next_version=last.number + (1 if last is live else 0),
        warnings=[*warnings(body or last.body), *([staffed.words] if staffed else [])],
        versions=_versions(every, rule),
        trial=trial,
        coverage=staffed,
    )


def new(
    base: str, *, name: str = "", body: Mapping[str, Any] | None = None, trial: TrialView | None = None
) -> RuleView:
    """A rule that is not there yet; `body` is what was tried."""
    staffed = staffing_page.view(staffing.of(body)) if body else None
    return RuleView(
        url=f"{base}{HERE}new/",
        rules_url=base + HERE,
        name=name,
        trial=trial,
        warnings=[*warnings(body), *([staffed.words] if staffed else [])] if body else (),
        coverage=staffed,
    )


def _line(rule: PolicyRule, names: Roster, base: str) -> RuleLine:
    every = {row.number: row for row in rule.versions.all()}
    last = every[max(every)]
    shown_one = every[rule.live or last.number]
    body = shown_one.body
    return RuleLine(
        url=f"{base}{HERE}{rule.pk}/",
        name=rules.named(body["name"]),
        order=rule.position,
        version=rule.live,
        draft=rule.live is None or last.number > rule.live,
        tools=body["tools"],
        agents=body["agents"],
        condition=body["when"] or "",
        outcome=body["outcome"],
        approvals=0 if rule.is_default else body["approvals"],
        of=people.of_whom([Place(**each) for each in body["of"]], names, needed=body["approvals"]),
        is_default=rule.is_default,
        active=rule.live is not None,
        changed_at=shown_one.created_at,
        changed_by=_author(shown_one),
    )


def _author(version: PolicyVersion) -> str:
    return wording.actor(version.author or {}) or "–"


def _versions(every: Mapping[int, PolicyVersion], rule: PolicyRule) -> list[VersionLine]:
    """The newest first, each beside the one before it."""
    names = roster()
    policies = {str(key): name for key, name in EscalationPolicy.objects.values_list("pk", "name")}
    calendars = {str(key): name for key, name in Calendar.objects.values_list("pk", "name")}
    told = {number: _described(row.body, names, policies, calendars) for number, row in every.items()}
    newest = sorted(every, reverse=True)[:VERSIONS]
    return [
        VersionLine(
            number=number,
            live=number == rule.live,
            author=_author(every[number]),
            at=every[number].created_at,
            note=every[number].note,
            differences=_differences(told.get(number - 1), told[number]),
            may_restore=number != rule.live,
        )
        for number in newest
    ]


def _differences(before: Mapping[str, str] | None, after: Mapping[str, str]) -> list[Difference]:
    if before is None:
        return []
    return [
        Difference(name, shown(value), shown(before[name]))
        for name, value in after.items()
        if before.get(name, "") != value and name in before
    ]


def _described(
    body: Mapping[str, Any], names: Roster, policies: Mapping[str, str], calendars: Mapping[str, str]
) -> dict[str, str]:
    """Every field of a body in words, by its label."""
    reasons = {None: REASONS[0][1], True: REASONS[1][1], False: REASONS[2][1]}
    told = {
        _("Name"): body["name"],
        _("Tools"): " ".join(body["tools"]),
        _("Agents"): " ".join(body["agents"]),
        _("Only for the risks"): wording.listed(str(RISK_WORDS[each]) for each in body["risks"]),
        _("Condition"): body["when"] or _("always"),
        _("What the rule demands"): str(dict(OUTCOMES)[body["outcome"]]),
        _("How many must approve"): str(body["approvals"]),
        _("of"): wording.listed(_place(each, names) for each in body["of"]) or _("any reviewer"),
        _("Answers allowed"): wording.listed(str(ANSWER_WORDS[each]) for each in body["answers"]),
        _("A rejection needs a reason"): str(reasons[body["reason_required"]]),
        _("Who is asked as well, later"): policies.get(str(body["escalation_policy"]), _("nobody")),
        _("It ends after"): durations.written(body["response_timeout"]),
        _("Counted in working hours"): _("yes") if body["working_time"] else _("no"),
        _("Working hours of"): calendars.get(str(body.get("calendar")), _("the default calendar")),
        _("If nobody answers"): str(dict(SILENCES)[body["on_timeout"]]),
    }
    for risk, number in (body.get("by_risk") or {}).items():
        told[_("Approvals for %(risk)s risk") % {"risk": RISK_WORDS[risk]}] = str(number)
    return {name: str(value) for name, value in told.items()}


def _place(each: Mapping[str, Any], names: Roster) -> str:
    return people.placed(Place(**each), names)
