"""How a row of words, an actor and a day are written in the language of the one who reads them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext


def listed(words: Iterable[object]) -> str:
    """The words one after the other: "A, B, C"; Chinese has a comma of its own for that."""
    return pgettext("between names", ", ").join(map(str, words))


def actor(written: Mapping[str, Any]) -> str:
    """The name of an actor as it was kept: a person's own, or the word for the shell."""
    return _("command line") if written.get("kind") == "command" else str(written.get("name") or "")


def day(local: datetime, *, year: bool = True) -> str:
    """The day of a local time: "30 Nov 2026", or without the year "30 Nov"."""
    return date_format(local, pgettext("date", "j M Y") if year else pgettext("date", "j M"))
