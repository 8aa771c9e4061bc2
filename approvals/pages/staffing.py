"""Who could answer a rule, as its page shows it: hours by day, those with too few people first in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from approvals.coverage import Gap, Stretch
from approvals.staffing import Staffing

ROWS = 60
GAPS = 5


@dataclass(frozen=True)
class HoursRow:
    """The same hours of one day or of several in a row; `enough` is yes, spare or no."""

    hours: str
    people: str
    enough: str


@dataclass(frozen=True)
class CoverageView:
    """The two weeks to come; `words` is a sentence for the list of what to know before a rule is live."""

    words: str
    gaps: Sequence[str]
    rows: Sequence[HoursRow]
    hint: str


@dataclass(frozen=True)
class _Part:
    """A stretch within one local day, in the clock times of that day."""

    begins: str
    ends: str
    people: int
    enough: str


def view(found: Staffing) -> CoverageView | None:
    """The page's part, or None where the rule asks nobody."""
    if not found.stretches:
        return None
    serious = [gap for gap in found.gaps if gap.expires]
    return CoverageView(
        words=_words(found),
        gaps=[_gap(gap, found) for gap in serious[:GAPS]],
        rows=_rows(found.stretches)[:ROWS],
        hint=_("The next two weeks, counting working hours, turns on call and absences, but not who starts the run."),
    )


def _words(found: Staffing) -> str:
    hours = round(found.short / timedelta(hours=1))
    if not hours:
        return _("At every hour of the next two weeks enough people could answer.")
    told = ngettext(
        "%(n)s hour of the next two weeks has too few people who could answer.",
        "%(n)s hours of the next two weeks have too few people who could answer.",
        hours,
    )
    return told % {"n": hours}


def _gap(gap: Gap, found: Staffing) -> str:
    most = max(gap.stretches, key=lambda each: len(each.members))
    words = {
        "start": _moment(gap.starts),
        "end": _moment(gap.ends),
        "people": _people(len(most.members)),
        "needed": found.approvals,
        "names": ", ".join(found.people.name(key) for key in most.members),
    }
    if most.members:
        told = _("%(start)s to %(end)s: %(people)s (%(names)s), %(needed)s needed. A request made then expires.")
    else:
        told = _("%(start)s to %(end)s: nobody could answer. A request made then expires.")
    return told % words


def _rows(stretches: Sequence[Stretch]) -> list[HoursRow]:
    """One row for each part of a day, days with the same hours together."""
    days: dict[date, list[_Part]] = {}
    for each in stretches:
        for day, part in _parts(each):
            days.setdefault(day, []).append(part)
    runs: list[tuple[date, date, list[_Part]]] = []
    for day, parts in days.items():
        if runs and runs[-1][2] == parts and runs[-1][1] + timedelta(days=1) == day:
            runs[-1] = runs[-1][0], day, parts
        else:
            runs.append((day, day, parts))
    return [_row(first, last, part) for first, last, parts in runs for part in parts]


def _parts(each: Stretch) -> list[tuple[date, _Part]]:
    """The stretch cut at the reader's midnights."""
    starts, ends, found = localtime(each.starts), localtime(each.ends), []
    enough = "no" if each.short else "spare" if each.tight else "yes"
    while starts.replace(tzinfo=None) < ends.replace(tzinfo=None):
        midnight = datetime.combine(starts.date() + timedelta(days=1), time(), starts.tzinfo)
        until = min(ends.replace(tzinfo=None), midnight.replace(tzinfo=None))
        shown = "24:00" if until.time() == time() else f"{until:%H:%M}"
        found.append((starts.date(), _Part(f"{starts:%H:%M}", shown, len(each.members), enough)))
        starts = midnight
    return found


def _row(first: date, last: date, part: _Part) -> HoursRow:
    words = {"first": _day(first), "last": _day(last), "begins": part.begins, "ends": part.ends}
    if first == last:
        hours = _("%(first)s, %(begins)s to %(ends)s") % words
    else:
        hours = _("%(first)s to %(last)s, %(begins)s to %(ends)s") % words
    return HoursRow(hours, _people(part.people), part.enough)


def _people(number: int) -> str:
    if not number:
        return _("nobody")
    return ngettext("%(n)s person", "%(n)s people", number) % {"n": number}


def _day(day: date) -> str:
    return date_format(day, pgettext("date", "D j M"))


def _moment(at: datetime) -> str:
    return f"{_day(localtime(at).date())} {localtime(at):%H:%M}"
