"""Who could answer a rule, as its page shows it: hours by day, those with too few people first in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from approvals.coverage import Gap
from approvals.pages import hours, staffing_chart
from approvals.pages.hours import Part
from approvals.pages.staffing_chart import Chart
from approvals.staffing import Staffing
from tenants import wording

GAPS = 5
_ENDS = {
    "expire": gettext_lazy("A request made by %(last)s expires, not run."),
    "fail_run": gettext_lazy("A request made by %(last)s expires and fails its run."),
    "approve": gettext_lazy(
        "A request made by %(last)s runs unanswered if its risk is low; any other expires, not run."
    ),
}
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class HoursRow:
    """A part of the day; `enough` is yes, spare (none to spare) or no."""

    hours: str
    people: str
    enough: str


@dataclass(frozen=True)
class DaysGroup:
    """One day, or several in a row with the same hours."""

    days: str
    rows: Sequence[HoursRow]


@dataclass(frozen=True)
class CoverageView:
    """The two weeks to come; `words` is a sentence for the list of what to know before a rule is live.

    `uncovered` is how many hours in a row have too few people for longer than a request waits; who makes the rule live
    says that they know.
    """

    words: str
    gaps: Sequence[str]
    uncovered: int
    chart: Chart
    caption: str
    groups: Sequence[DaysGroup]
    hint: str


def view(found: Staffing) -> CoverageView | None:
    """The page's part, or None where the rule asks nobody."""
    if not found.stretches:
        return None
    serious = [gap for gap in found.gaps if gap.expires]
    days = hours.by_day(found.stretches)
    return CoverageView(
        words=_words(found),
        gaps=[_gap(gap, found) for gap in serious[:GAPS]],
        uncovered=ceil(found.uncovered / HOUR),
        chart=staffing_chart.chart(days),
        caption=_caption(found.approvals),
        groups=_groups(days),
        hint=_("The next two weeks, counting working hours, turns on call and absences, but not who starts the run."),
    )


def _words(found: Staffing) -> str:
    short = ceil(found.short / HOUR)
    if not short:
        return _("At every hour of the next two weeks enough people could answer.")
    told = ngettext(
        "%(n)s hour of the next two weeks has too few people who could answer.",
        "%(n)s hours of the next two weeks have too few people who could answer.",
        short,
    ) % {"n": short}
    if not found.uncovered:
        return _(
            "%(told)s A request made then is still open when enough people are there again, or enough come one after "
            "the other before it ends."
        ) % {"told": told}
    more = _("In %(n)s of them it is for longer than a request waits.") % {"n": ceil(found.uncovered / HOUR)}
    return f"{told} {more}"


def _caption(needed: int) -> str:
    told = ngettext(
        "Numbers: people who could answer. Solid: nobody. Outlined: none to spare.",
        "Numbers: people who could answer. Solid: fewer than the %(n)s needed. Outlined: none to spare.",
        needed,
    )
    return told % {"n": needed}


def _gap(gap: Gap, found: Staffing) -> str:
    """When there are too few, and what that means for requests made then: not for all the same."""
    assert gap.last is not None
    most = max(gap.stretches, key=lambda each: len(each.members))
    words = {
        "start": _moment(gap.starts),
        "end": _moment(gap.ends),
        "people": _people(len(most.members)),
        "needed": found.approvals,
        "names": wording.listed(found.people.name(key) for key in most.members),
    }
    if most.members:
        told = _("%(start)s to %(end)s: %(people)s (%(names)s), %(needed)s needed.")
    else:
        told = _("%(start)s to %(end)s: nobody could answer.")
    return " ".join([told % words, str(_ENDS[found.silence]) % {"last": _moment(gap.last)}, _after(gap, found)])


def _after(gap: Gap, found: Staffing) -> str:
    """What holds for a request that is made in the gap and later than what ends in it."""
    if found.goes_on(gap):
        return _("These two weeks end before enough people are there again.")
    return _("One made after that is still open when enough people are there again.")


def _groups(days: Mapping[date, list[Part]]) -> list[DaysGroup]:
    """Days in a row with the same hours together."""
    runs: list[tuple[date, date, list[Part]]] = []
    for day, parts in days.items():
        if runs and runs[-1][2] == parts and runs[-1][1] + timedelta(days=1) == day:
            runs[-1] = runs[-1][0], day, parts
        else:
            runs.append((day, day, parts))
    return [DaysGroup(_days(first, last), [_row(part) for part in parts]) for first, last, parts in runs]


def _days(first: date, last: date) -> str:
    words = {"first": _day(first), "last": _day(last)}
    return words["first"] if first == last else _("%(first)s to %(last)s") % words


def _row(part: Part) -> HoursRow:
    words = {"begins": hours.clock(part.begins), "ends": hours.clock(part.ends)}
    return HoursRow(_("%(begins)s to %(ends)s") % words, _people(part.people), part.enough)


def _people(number: int) -> str:
    if not number:
        return _("nobody")
    return ngettext("%(n)s person", "%(n)s people", number) % {"n": number}


def _day(day: date) -> str:
    return date_format(day, pgettext("date", "D j M"))


def _moment(at: datetime) -> str:
    return f"{_day(localtime(at).date())} {localtime(at):%H:%M}"
