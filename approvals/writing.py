"""How much a person may write beside a question, and what of it cannot be kept."""

from typing import Any

from django.utils.translation import gettext as _

from tenants import exact_json

COMMENT = 10_000
"""Characters of a comment, and of the note an outcome is settled with."""
ANSWER = 20_000
"""Characters of what goes with an answer: a note, a reason, a result in the tool's place."""


def wrong(text: Any, *, limit: int) -> str:
    """What keeps the text from being taken, in words; empty where nothing does."""
    if not isinstance(text, str):
        return _("This is text.")
    if len(text) > limit:
        return _("This is too long: at most %(limit)s characters.") % {"limit": limit}
    try:
        exact_json.check_text(text)
    except exact_json.BadJson as error:
        return str(error)
    return ""
