"""What a rule may say and might not have been meant: names that nobody has, calls it cannot read, people it lacks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals import fitting
from approvals.display import shown
from approvals.rosters import roster
from tenants import wording

AGENTS: list[Callable[[], Iterable[str]]] = []
"""Where the agents that exist are found; a floor above registers."""
_PATTERN = frozenset("*?[")
_TOLD = 5


def warnings(body: Mapping[str, Any]) -> list[str]:
    """What is allowed and may surprise, as sentences; `body` is as it is stored."""
    return [*nobody(body), *_short(body), *_unread(body)]


def nobody(body: Mapping[str, Any]) -> list[str]:
    """The tools and agents named in full that no worker has announced: such a rule matches no call."""
    found = []
    if exact := _exact(body["tools"]):
        words = _("No registered tool is named “%(name)s”, so this rule matches no call of it.")
        found += _missing(exact, [name for source in fitting.TOOLS for name in source()], words)
    if exact := _exact(body["agents"]):
        words = _("No registered agent is named “%(name)s”, so this rule matches no call of it.")
        found += _missing(exact, [name for source in AGENTS for name in source()], words)
    return found


def _exact(names: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if not _PATTERN & set(name)]


def _missing(names: Sequence[str], known: Sequence[str], words: str) -> list[str]:
    missing = [name for name in names if name not in known][:_TOLD]
    return [" ".join([words % {"name": str(shown(name))}, *_near(name, known)]) for name in missing]


def _near(name: str, known: Sequence[str]) -> list[str]:
    folded = {each.casefold(): each for each in known}
    near = [folded[each] for each in get_close_matches(name.casefold(), folded, n=1)]
    return [_("There is “%(name)s”.") % {"name": each} for each in near]


def _unread(body: Mapping[str, Any]) -> list[str]:
    """The tools for whose calls an admin would be asked."""
    odd = fitting.misfits(body["when"], body["tools"]) if body.get("when") else {}
    words = _("For calls of %(tools)s the condition cannot be read: an admin would be asked.")
    return [words % {"tools": wording.listed(list(odd)[:_TOLD])}] if odd else []


def _short(body: Mapping[str, Any]) -> list[str]:
    """Whether the rule asks for more people than it names."""
    if body["outcome"] != "require_approval" or body.get("by_risk"):
        return []
    wanted = {(each["kind"], each["key"]) for each in body["of"]} or {("role", "reviewer")}
    able = sum(1 for each in roster().people.values() if "reviewer" in each.roles and wanted & each.places)
    if able >= body["approvals"]:
        return []
    words = ngettext(
        "%(n)s person could answer, %(wanted)s are needed.", "%(n)s people could answer, %(wanted)s are needed.", able
    )
    return [words % {"n": able, "wanted": body["approvals"]}]
