"""Lengths of time as people write them: "90 s", "60 min", "2 h 30 min", "1 day"; kept in seconds."""

import re

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

_UNITS = {
    86400: ("d", "day", "days", "天", "日"),
    3600: ("h", "hour", "hours", "小时", "时"),
    60: ("min", "m", "minute", "minutes", "分钟", "分"),
    1: ("s", "sec", "second", "seconds", "秒"),
}
_SECONDS = {word: seconds for seconds, words in _UNITS.items() for word in words}
_ONE = re.compile(r"\s*(\d{1,9})\s*([^\W\d]+)\.?,?")


def read(text: str) -> int:
    """The seconds that `text` stands for. Raises ValueError with a sentence for the person who wrote it."""
    total, place = 0, 0
    text = text.strip()
    while place < len(text):
        found = _ONE.match(text, place)
        if not found or found[2].lower() not in _SECONDS:
            raise ValueError(_("Write a time with its unit, such as 90 s, 45 min, 2 h or 3 days."))
        total += int(found[1]) * _SECONDS[found[2].lower()]
        place = found.end()
    if not text:
        raise ValueError(_("Write a time with its unit, such as 90 s, 45 min, 2 h or 3 days."))
    return total


def written(seconds: int) -> str:
    """The same length in as few units as say it exactly."""
    parts = []
    for unit in _UNITS:
        count, seconds = divmod(seconds, unit)
        if count:
            parts.append(_part(count, unit))
    return " ".join(parts) or _part(0, 1)


def _part(count: int, unit: int) -> str:
    if unit == 86400:
        return ngettext("%(n)s day", "%(n)s days", count) % {"n": count}
    words = {3600: _("%(h)s h") % {"h": count}, 60: _("%(n)s min") % {"n": count}, 1: _("%(n)s s") % {"n": count}}
    return words[unit]
