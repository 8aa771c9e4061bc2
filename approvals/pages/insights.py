"""Insights as their page shows them: numbers with a link to the requests behind them, bars drawn by the server."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals.calls import RISKS
from approvals.measuring import Asking, Reviewing, Settling, Waiting, Wrong
from tenants.templatetags.look import span

FEW = 20
"""Groups with fewer answers are left out: a share of few says little, and would name somebody."""
HASTY, BLIND = 0.25, 0.5
"""From which share on answers under 3 s, or without having opened the page, are worth a look."""


@dataclass(frozen=True)
class Cell:
    """A number, and where the requests behind it are."""

    text: str
    url: str = ""


@dataclass(frozen=True)
class Fact:
    """A number at a glance, and a smaller one below it."""

    label: str
    value: str
    url: str = ""
    small: str = ""
    small_url: str = ""


@dataclass(frozen=True)
class Row:
    """One line of a table; `bars` are shares from 0 to 100, in the order in which they are drawn."""

    name: str
    cells: Sequence[Cell]
    risk: str = ""
    label: str = ""
    bar_half: str = "0"
    bar_nine: str = "0"
    under: str = "0"
    middle: str = "0"
    from_over: str = "0"
    over: str = "0"
    signal: str = ""
    look: bool = False


@dataclass(frozen=True)
class Table:
    """Numbers by something."""

    title: str
    first: str
    columns: Sequence[str]
    rows: Sequence[Row]
    hint: str = ""


@dataclass(frozen=True)
class Filters:
    """What the page is narrowed to."""

    period: str
    periods: Sequence[tuple[str, str]]
    group: str
    groups: Sequence[str]
    agent: str
    agents: Sequence[str]


@dataclass(frozen=True)
class InsightsView:
    """The whole page."""

    url: str
    from_: datetime
    to: datetime
    filters: Filters
    facts: Sequence[Fact]
    tools: Sequence[Row]
    tool_columns: Sequence[str]
    tables: Sequence[Table]
    reviewing: Table | None
    advice: Sequence[str]
    small: str

    @property
    def empty(self) -> bool:
        """Whether nothing was asked and nothing waits."""
        return not self.tools and not self.tables


@dataclass(frozen=True)
class Behind:
    """Makes the links to the requests behind a number: `url` of the list, the days, and the agent looked at."""

    url: str
    days: int
    agent: str = ""

    def to(self, count: int, **narrowed: str) -> Cell:
        """The count, with a link where there is anything behind it and a list that can show just that."""
        given = {"agent": self.agent, **narrowed, "days": str(self.days)}
        query = urlencode({name: value for name, value in given.items() if value})
        return Cell(str(count), f"{self.url}?{query}" if count and self.url else "")


def facts(now: Asking, before: Asking, wrong: Wrong, settled: Settling, behind: Behind) -> list[Fact]:
    """At a glance."""
    expired, unseen = behind.to(now.expired, came="expired"), behind.to(now.unseen, came="unseen")
    raised, edited = behind.to(now.raised, came="raised"), behind.to(now.edited, came="edited")
    turned = behind.to(now.turned, came="turned")
    days = {"days": behind.days}
    more, fewer = _("%(n)d more than in the %(days)d days before"), _("%(n)d fewer than in the %(days)d days before")
    moved = more if now.asked >= before.asked else fewer
    return [
        Fact(_("Asked"), str(now.asked), small=moved % {"n": abs(now.asked - before.asked), **days}),
        Fact(
            _("Half answered within"), _span(now.half), small=_("9 in 10 within %(span)s") % {"span": _span(now.nine)}
        ),
        Fact(
            _("Nobody answered"),
            expired.text,
            expired.url,
            _("%(n)d never seen by anyone") % {"n": now.unseen},
            unseen.url,
        ),
        Fact(_("Went a level up"), raised.text, raised.url),
        Fact(_("Edited"), edited.text, edited.url),
        Fact(_("Turned around"), turned.text, turned.url, _("approved by one, refused by another")),
        Fact(_("Went wrong after approval"), str(wrong.failed + wrong.unknown), small=_went_wrong(wrong)),
        Fact(_("Unknown outcomes settled"), str(settled.settled), small=_settled(settled)),
    ]


def _settled(settled: Settling) -> str:
    words = {"half": _span(settled.half), "nine": _span(settled.nine)}
    return _("half within %(half)s, 9 in 10 within %(nine)s") % words if settled.settled else ""


def by_tool(rows: Sequence[Asking], behind: Behind) -> list[Row]:
    """The tools, the most asked first, each with its two bars."""
    widest = max((row.nine or 0 for row in rows), default=0)
    return [
        Row(
            name=row.name,
            label=_span(row.nine),
            bar_half=_share(row.half or 0, widest),
            bar_nine=_share(row.nine or 0, widest),
            cells=[*_times(row), *_ends(row, behind, tool=row.name)],
        )
        for row in sorted(rows, key=lambda row: (-row.asked, row.name))
    ]


def columns() -> list[str]:
    """What `by_tool`, `by_risk` and `by_group` count."""
    return [_("Asked"), _("Half within"), _("9 in 10 within"), _("Rejected"), _("Edited"), _("Expired")]


def by_risk(rows: Sequence[Asking], behind: Behind) -> Table:
    """The risks, the highest first."""
    found = sorted(rows, key=lambda row: -RISKS.index(row.name))
    told = [Row(row.name, [*_times(row), *_ends(row, behind, risk=row.name)], risk=row.name) for row in found]
    return Table(_("By risk"), _("Risk"), columns(), told, _("The requests of this time, the highest risk first."))


def by_group(rows: Sequence[Asking]) -> Table:
    """The groups that were asked."""
    found = sorted(rows, key=lambda row: (-row.asked, row.name))
    told = [
        Row(row.name, [*_times(row), *map(Cell, map(str, (row.rejected, row.edited, row.expired)))]) for row in found
    ]
    return Table(_("By group"), _("Group"), columns(), told, _("The requests that a rule has a group answer."))


def waiting(rows: Sequence[Waiting]) -> Table:
    """Whom open requests wait for now."""
    now = timezone.now()
    told = [
        Row(row.group or _("in no group"), [Cell(str(row.requests)), Cell(_span((now - row.oldest).total_seconds()))])
        for row in rows
    ]
    hint = _("Open requests, whenever they were asked, by the groups of those who are asked.")
    return Table(_("Waiting now"), _("Group"), [_("Requests"), _("Longest")], told, hint)


def reviewing(rows: Sequence[Reviewing]) -> Table | None:
    """How the groups answer, those with few answers left out; None where none is left."""
    found = [_reviewing(row) for row in rows if row.answers >= FEW]
    names = [_("Answers"), _("Under 3 s"), _("Never opened"), _("Rejected, edited or answered instead")]
    return Table(_("Is the reviewing real?"), _("Group"), names, found) if found else None


def advice(rows: Sequence[Asking]) -> list[str]:
    """Tools that people are asked about and never refuse."""
    words = _("Of %(n)d requests for %(tool)s none was refused or edited. A rule could ask about fewer of them.")
    return [
        words % {"n": row.answered, "tool": row.name}
        for row in rows
        if row.answered >= FEW and not (row.rejected or row.edited or row.turned)
    ]


def _reviewing(row: Reviewing) -> Row:
    measured = row.under + row.middle + row.over
    look = row.refused == 0 and (_of(row.under, row.answers) >= HASTY or _of(row.blind, row.answers) >= BLIND)
    words = _("%(n)d answers, none refused, most unread") % {"n": row.answers} if look else _("Nothing unusual")
    shares = [_percent(count, row.answers) for count in (row.under, row.blind, row.refused)]
    return Row(
        name=row.group or _("in no group"),
        cells=[Cell(str(row.answers)), *map(Cell, shares)],
        label=shares[0],
        under=_share(row.under, measured),
        middle=_share(row.middle, measured),
        from_over=_share(row.under + row.middle, measured),
        over=_share(row.over, measured),
        signal=words,
        look=look,
    )


def _times(row: Asking) -> list[Cell]:
    return [Cell(str(row.asked)), Cell(_span(row.half)), Cell(_span(row.nine))]


def _counts(row: Asking) -> tuple[int, int, int]:
    return row.rejected, row.edited, row.expired


def _ends(row: Asking, behind: Behind, **narrowed: str) -> list[Cell]:
    came = zip(("rejected", "edited", "expired"), _counts(row), strict=True)
    return [behind.to(count, came=how, **narrowed) for how, count in came]


def _went_wrong(wrong: Wrong) -> str:
    words = ngettext("%(n)d outcome unknown", "%(n)d outcomes unknown", wrong.unknown) % {"n": wrong.unknown}
    return _("%(unknown)s; of %(n)d approved") % {"unknown": words, "n": wrong.looked_at}


def _span(seconds: float | None) -> str:
    return "–" if seconds is None else span(seconds)


def _of(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _percent(part: int, whole: int) -> str:
    return f"{100 * _of(part, whole):.0f} %"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "0"
