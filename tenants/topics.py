"""What can be watched, who may watch it, and the number it has now. Each floor registers its own kinds."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tenants.models import Member

MayWatch = Callable[[Member, str], bool]
Number = Callable[[Member, str], int]

_FORM = re.compile(r"[a-z]{1,20}(:[0-9a-zA-Z-]{1,64})?")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of topic: `run:<id>` is of kind `run`. Both functions get the member and the id, in the scope.

    `number` grows with every change; where it grew and no bell rang, the tick tells the page.
    """

    may_watch: MayWatch
    number: Number


KINDS: dict[str, Kind] = {}


def register(kind: str, *, may_watch: MayWatch, number: Number) -> None:
    """Let members watch topics of this kind; called when a floor's application is ready."""
    KINDS[kind] = Kind(may_watch, number)


def numbers(member: Member, topics: Iterable[str]) -> dict[str, int]:
    """The numbers now of those topics that exist and that the member may watch; the others are left out."""
    found: dict[str, int] = {}
    for topic in topics:
        name, _colon, key = topic.partition(":")
        kind = KINDS.get(name)
        if kind and _FORM.fullmatch(topic) and kind.may_watch(member, key):
            found[topic] = kind.number(member, key)
    return found
