"""The link in a message: signed, for one request and one member, expiring; it opens the page and decides nothing."""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.core import signing

from tenants import ids

SALT = "approvals.link"
AGE = 14 * 24 * 3600


@dataclass(frozen=True)
class Link:
    """What a link says: the request it opens and the member it was sent to."""

    request: UUID
    member: UUID


def address(slug: str, *, request: UUID, member: UUID) -> str:
    """The absolute address for a message."""
    token = signing.dumps([ids.short(request), ids.short(member)], salt=SALT)
    return f"{settings.PUBLIC_URL}/t/{slug}/open/{token}/"


def read(token: str) -> Link | None:
    """What the token says, or None where it was not made here or has expired."""
    try:
        request, member = (ids.unshort(each) for each in signing.loads(token, salt=SALT, max_age=AGE))
    except (signing.BadSignature, TypeError, ValueError):
        return None
    return Link(request, member) if request and member else None
