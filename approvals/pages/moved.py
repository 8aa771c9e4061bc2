"""Why an approved call came back, in the reader's language: it is kept as the sentence of whoever found it out."""

import re
from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

PLAIN: Mapping[str, str | Promise] = {
    "What had to hold when this was approved has changed.": _("What had to hold when this was approved has changed."),
    "The rules ask for more than when this was approved.": _("The rules ask for more than when this was approved."),
    "The tool reads the arguments differently than they were approved.": _(
        "The tool reads the arguments differently than they were approved."
    ),
    "Somebody who approved this may no longer do so.": _("Somebody who approved this may no longer do so."),
}
NAMED: tuple[tuple[re.Pattern[str], str | Promise], ...] = (
    (
        re.compile(r"The tool (?P<tool>\S+) is defined differently than when this was approved\."),
        _("The tool %(tool)s is defined differently than when this was approved."),
    ),
)


def why(kept: str) -> str:
    """The sentence in the language that is active; one that is not known stands as it was kept."""
    for pattern, words in NAMED:
        if found := pattern.fullmatch(kept):
            return str(words) % found.groupdict()
    return str(PLAIN.get(kept, kept))
