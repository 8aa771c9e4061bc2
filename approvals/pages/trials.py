"""A draft of a rule tried on past calls, as its page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals import clock
from approvals.display import Shown, shown
from approvals.pages import people
from approvals.requirements import Place
from approvals.rosters import Roster, roster
from tenants import wording


@dataclass(frozen=True)
class TrialRow:
    """A call that would have gone another way."""

    title: Shown
    url: str
    at: datetime
    live: str
    draft: str
    came: str


@dataclass(frozen=True)
class TrialView:
    """A draft tried on past calls, in numbers and examples."""

    calls: int
    from_: datetime
    to: datetime
    live: int
    draft: int
    more: int
    fewer: int
    unreadable: int
    unreadable_text: str
    work: str
    changed: int
    rows: Sequence[TrialRow]


def trial_view(told: Mapping[str, Any]) -> TrialView:
    """What `trials.run` found, for the page."""
    before, after, names = told["before"], told["after"], roster()
    work = after["answers"] - before["answers"]
    return TrialView(
        calls=told["calls"],
        from_=told["since"],
        to=clock.now(),
        live=before["require_approval"],
        draft=after["require_approval"],
        more=told["more"],
        fewer=told["fewer"],
        unreadable=after["not_evaluable"],
        unreadable_text=_("An admin would be asked.") if after["not_evaluable"] else "",
        work=ngettext("%(n)s answer a month", "%(n)s answers a month", work) % {"n": work} if work > 0 else "",
        changed=told["changed"],
        rows=[_row(each, names) for each in told["examples"]],
    )


def _row(each: Mapping[str, Any], names: Roster) -> TrialRow:
    return TrialRow(
        title=shown(each["summary"]),
        url="",  # An admin reads no runs.
        at=each["at"],
        live=_told(each["before"], names),
        draft=_told(each["after"], names),
        came=_came(each["came_of_it"]),
    )


def _told(need: Mapping[str, Any], names: Roster) -> str:
    """What the rules would have demanded: how many, and of whom, for either may be what differs."""
    if need["errors"]:
        return _("asks an admin: cannot be read")
    if need["outcome"] == "require_approval":
        return wording.listed(_demand(each, names) for each in need["demands"])
    return _("allowed") if need["outcome"] == "allow" else _("refused")


def _demand(demand: Mapping[str, Any], names: Roster) -> str:
    asked, places = demand["approvals"], [Place(**each) for each in demand["places"]]
    who = _(" or ").join(people.placed(each, names) for each in places) or _("any reviewer")
    return ngettext("asks one of %(who)s", "asks %(n)s of %(who)s", asked) % {"n": asked, "who": who}


def _came(status: str) -> str:
    words = {
        "pending": _("waits for an answer"),
        "approved": _("approved"),
        "rejected": _("rejected"),
        "responded": _("answered in its place"),
        "expired": _("expired"),
        "cancelled": _("closed with its run"),
        "superseded": _("asked again"),
        "planned": _("not run yet"),
        "started": _("under way"),
        "completed": _("completed"),
        "failed": _("failed"),
        "unknown": _("may or may not have happened"),
        "declined": _("not run"),
        "not_done": _("not done"),
        "refused": _("refused"),
    }
    return words.get(status, status)
