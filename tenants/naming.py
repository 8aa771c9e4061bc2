"""A name that people go by says what it shows: nothing in it hides, and nothing turns its letters round."""

import unicodedata

from django.utils.translation import gettext_lazy as _

from tenants.refusals import invalid

HIDING = _("A name holds no invisible characters and none that change the direction of writing.")
# They draw nothing, though Unicode calls them letters or symbols.
_BLANK = frozenset("\u034f\u115f\u1160\u2800\u3164\uffa0")
_JOINERS = frozenset("\u200c\u200d")
_FIRST_THAT_JOINS = 0x590
"""Scripts before Hebrew need no joiners, so that in them one only tells two names apart that look the same."""


def demand(name: str) -> str:
    """The name as it is. Raises Refusal 422 where it hides something."""
    if hides(name):
        raise invalid(HIDING, code="hidden_characters", errors=[{"field": "name", "message": HIDING}])
    return name


def hides(name: str) -> bool:
    """Whether a reader would not see all of the name, or not in its order."""
    return any(_hidden(name, at) for at in range(len(name)))


def _hidden(name: str, at: int) -> bool:
    char = name[at]
    if char in _JOINERS:
        around = name[at - 1 : at] + name[at + 1 : at + 2]
        return len(around) < 2 or any(ord(each) < _FIRST_THAT_JOINS for each in around)
    return char in _BLANK or not (char.isprintable() or unicodedata.category(char) == "Zs")
