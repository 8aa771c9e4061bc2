"""The link in a message: signed, for one request and one reader, expiring; it opens the page and decides nothing."""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.core import signing

from tenants import ids

SALT = "approvals.link"
ROOM = "approvals.room"
AGE = 14 * 24 * 3600


@dataclass(frozen=True)
class Link:
    """What a link says: the request it opens and the member it was sent to, or None for a chat channel of many."""

    request: UUID
    member: UUID | None


def address(slug: str, *, request: UUID, member: UUID) -> str:
    """The absolute address for a message to one member."""
    return _address(slug, [ids.short(request), ids.short(member)], salt=SALT)


def for_room(slug: str, *, request: UUID, channel: UUID) -> str:
    """The absolute address for a message to a chat channel that several people read."""
    return _address(slug, [ids.short(request), ids.short(channel)], salt=ROOM)


def read(token: str) -> Link | None:
    """What the token says, or None where it was not made here or has expired."""
    for salt in (SALT, ROOM):
        try:
            request, reader = (ids.unshort(each) for each in signing.loads(token, salt=salt, max_age=AGE))
        except (signing.BadSignature, TypeError, ValueError):
            continue
        if request and reader:
            return Link(request, reader if salt == SALT else None)
    return None


def _address(slug: str, names: list[str], *, salt: str) -> str:
    return f"{settings.PUBLIC_URL}/t/{slug}/open/{signing.dumps(names, salt=salt)}/"
