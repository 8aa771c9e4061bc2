"""Times as clients send them: with their offset."""

from datetime import datetime

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from approvals import errors


def moment(field: str, text: str) -> datetime:
    """The time that `text` writes; without an offset it would be another in every zone. Raises Refusal 422."""
    try:
        at = parse_datetime(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise errors.field(field, _("A time with its offset is wanted, such as 2026-12-03T08:00:00+01:00."))
    return at
