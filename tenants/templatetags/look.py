"""How moments, durations and names are printed: a clock time, short words, folds where a phone needs them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tenants import wording

register = template.Library()

MINUTE, HOUR, DAY = 60, 3600, 86400


@register.simple_tag
def when(moment: datetime | None, style: str = "") -> str:
    """A `<time>` in the reader's zone: the clock time today, else the day as well.

    `style`: "seconds" adds them, "day" shows the day alone, "clock" never shows the day.
    """
    if moment is None:
        return ""
    local = timezone.localtime(moment)
    return format_html('<time datetime="{}">{}</time>', local.isoformat(timespec="seconds"), _moment(local, style))


def _moment(local: datetime, style: str) -> str:
    clock = date_format(local, "H:i:s" if style == "seconds" else "H:i")
    if style == "clock" or (style != "day" and local.date() == timezone.localdate()):
        return clock
    day = wording.day(local, year=local.year != timezone.localdate().year)
    return day if style == "day" else f"{day} {clock}"


@register.filter
def remaining(moment: datetime | None) -> str:
    """The time until a moment in at most two units; "now" once it is there."""
    if moment is None:
        return ""
    seconds = (moment - timezone.now()).total_seconds()
    return span(seconds) if seconds > 0 else _("now")


@register.filter
def since(moment: datetime | None) -> str:
    """The time since a moment in at most two units."""
    return "" if moment is None else span(max(0.0, (timezone.now() - moment).total_seconds()))


@register.filter
def span(length: float | timedelta | None) -> str:
    """A length in seconds as people say it: "2.1 s", "51 min", "3 h 20 min", "2 days"."""
    if length is None:
        return ""
    seconds = length.total_seconds() if isinstance(length, timedelta) else float(length)
    if seconds < MINUTE:
        return _("%(n)s s") % {"n": f"{seconds:.1f}".removesuffix(".0") if seconds < 10 else f"{seconds:.0f}"}
    if seconds < HOUR:
        return _("%(n)s min") % {"n": int(seconds // MINUTE)}
    if seconds < DAY:
        return _hours(seconds)
    days = int(seconds // DAY)
    return ngettext("%(n)s day", "%(n)s days", days) % {"n": days}


def _hours(seconds: float) -> str:
    hours, minutes = int(seconds // HOUR), int(seconds % HOUR // MINUTE)
    if minutes:
        return _("%(h)s h %(m)s min") % {"h": hours, "m": minutes}
    return _("%(h)s h") % {"h": hours}


@register.filter
def fold(name: object) -> SafeString:
    """A technical name that may break after `_`, `.` and `-`, so that a narrow column need not cut it."""
    escaped = str(conditional_escape(str(name)))
    for mark in "_.-":
        escaped = escaped.replace(mark, mark + "<wbr>")
    return mark_safe(escaped)  # noqa: S308  Escaped above.


@register.filter
def names(people: list[object]) -> str:
    """Names as a list in a sentence: "Bo Lund and Ravi Nair", "A, B and C"."""
    words = [str(person) for person in people]
    if len(words) < 2:
        return "".join(words)
    return _("%(first)s and %(last)s") % {"first": wording.listed(words[:-1]), "last": words[-1]}


@register.filter
def listed(words: list[object]) -> str:
    """Words one after the other: "A, B, C"."""
    return wording.listed(words)


@register.filter
def beside(cells: Sequence[object], columns: Sequence[object]) -> list[tuple[object, object]]:
    """Each cell of a row with the name of its column, which stands beside it where the columns are folded."""
    return list(zip(cells, columns, strict=True))


@register.filter
def share(part: float | None, whole: float | None) -> str:
    """`part` of `whole` as a number from 0 to 100 with a point, for the width of a bar."""
    return f"{min(100.0, 100 * (part or 0) / whole):.1f}" if whole else "0"
