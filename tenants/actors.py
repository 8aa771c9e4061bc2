"""Who acts. Every event and every audit entry names one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

Kind = Literal["person", "key", "worker", "system", "command", "anonymous"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Actor:
    """One who acts: a person, a key, a worker's process, the system, the shell, or nobody known.

    `member` is the member behind a person or a personal key, and None for all others.
    """

    kind: Kind
    id: str
    name: str
    member: UUID | None = None

    def as_json(self) -> dict[str, Any]:
        """The actor as the API and the event stream write it."""
        member = str(self.member) if self.member else None
        return {"kind": self.kind, "id": self.id, "name": self.name, "member": member}

    def packed(self) -> list[str]:
        """The actor as rows keep it."""
        return _short(self.as_json())


SYSTEM = Actor(kind="system", id="system", name="Vermilion")
COMMAND = Actor(kind="command", id="command", name="command line")
ANONYMOUS = Actor(kind="anonymous", id="anonymous", name="not signed in")


def worker(process: str) -> Actor:
    """The worker whose process has this name, such as `host:4711:main`."""
    return Actor(kind="worker", id=process, name=process)


def packed(written: Mapping[str, Any]) -> Any:
    """What `Actor.as_json` wrote as `[kind, id, name, member]`, without what can be told from the rest.

    A name that is the id, or the one that everyone of the kind has, is left out; so is a member nobody is.
    A mapping that is no actor stays as it is.
    """
    return _short(written) if written.keys() == _KEYS else written


def unpacked(kept: Any) -> Any:
    """What `Actor.as_json` wrote, from its short form; anything else as it is."""
    if not isinstance(kept, list):
        return kept
    kind, key, name, member = [*kept, None, None, None][:4]
    key = _ONLY.get(kind, "") if key is None else key
    return {"kind": kind, "id": key, "name": _NAMES.get(kind, key) if name is None else name, "member": member}


_KEYS = {"kind", "id", "name", "member"}
_ONLY = {each.kind: each.id for each in (SYSTEM, COMMAND, ANONYMOUS)}
_NAMES = {each.kind: each.name for each in (SYSTEM, COMMAND, ANONYMOUS)}


def _short(written: Mapping[str, Any]) -> list[Any]:
    kind, key, name, member = written["kind"], written["id"], written["name"], written["member"]
    parts = [
        kind,
        None if key == _ONLY.get(kind, "") else key,
        None if name == _NAMES.get(kind, key) else name,
        member,
    ]
    while parts[-1] is None:
        parts.pop()
    return parts
