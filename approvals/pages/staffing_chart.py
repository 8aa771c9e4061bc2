"""Who could answer, drawn: a line a day, a bar for each part of it. The table below it says the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format
from django.utils.translation import pgettext

from approvals.pages.hours import DAY, Part

LEFT, WIDE = 60, 300
LINE, BAR = 24, 18
TEXT = 13
"""From the top of a bar to the line its number stands on."""
NARROW = 20
"""A bar below this width has no room for its number."""
HOURS = (0, 6, 12, 18, 24)
FILLS = {"no": "fill-none", "spare": "fill-one", "yes": "fill-ok"}


@dataclass(frozen=True)
class Bar:
    """A part of a day; `number` stands in its middle, where there is room and the bar is not solid."""

    fill: str
    x: str
    width: str
    number: str = ""
    middle: str = ""


@dataclass(frozen=True)
class Day:
    """One line; `top` is that of its bars, `base` what its texts stand on."""

    name: str
    top: int
    base: int
    bars: Sequence[Bar]


@dataclass(frozen=True)
class Tick:
    """An hour below the lines; the last one ends there instead of beginning."""

    x: str
    hour: str
    last: bool


@dataclass(frozen=True)
class Chart:
    """All that the drawing needs, in its own units; numbers are texts with a point, whatever the language."""

    width: int
    height: int
    bar: int
    base: int
    days: Sequence[Day]
    ticks: Sequence[Tick]


def chart(days: Mapping[date, Sequence[Part]]) -> Chart:
    """The days in their order."""
    lines = [
        Day(
            date_format(day, pgettext("date", "D j")),
            4 + LINE * row,
            4 + LINE * row + TEXT,
            [_bar(part) for part in parts],
        )
        for row, (day, parts) in enumerate(days.items())
    ]
    base = 4 + LINE * len(lines) + TEXT
    ticks = [Tick(_x(hour * 60), f"{hour:02}", hour == HOURS[-1]) for hour in HOURS]
    return Chart(LEFT + WIDE + 4, base + 9, BAR, base, lines, ticks)


def _bar(part: Part) -> Bar:
    width = (part.ends - part.begins) * WIDE / DAY
    shown = part.enough != "no" and width >= NARROW
    number = ("3+" if part.people > 2 else str(part.people)) if shown else ""
    return Bar(FILLS[part.enough], _x(part.begins), f"{width:.1f}", number, _x((part.begins + part.ends) / 2))


def _x(minutes: float) -> str:
    return f"{LEFT + minutes * WIDE / DAY:.1f}"
