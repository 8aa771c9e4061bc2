"""A draft of a rule tried on past calls, as its page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals import clock
from approvals.display import Shown, shown


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
    before, after = told["before"], told["after"]
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
        rows=[_row(each) for each in told["examples"]],
    )


def _row(each: Mapping[str, Any]) -> TrialRow:
    return TrialRow(
        title=shown(each["summary"]),
        url="",  # An admin reads no runs.
        at=each["at"],
        live=_told(each["before"]),
        draft=_told(each["after"]),
        came=_came(each["came_of_it"]),
    )


def _told(need: Mapping[str, Any]) -> str:
    if need["errors"]:
        return _("asks an admin: cannot be read")
    if need["outcome"] == "require_approval":
        asked = need["approvals"]
        return ngettext("asks one", "asks %(n)s", asked) % {"n": asked}
    return _("allowed") if need["outcome"] == "allow" else _("refused")


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
