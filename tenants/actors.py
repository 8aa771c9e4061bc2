"""Who acts. Every event and every audit entry names one."""

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


SYSTEM = Actor(kind="system", id="system", name="Vermilion")
COMMAND = Actor(kind="command", id="command", name="command line")
ANONYMOUS = Actor(kind="anonymous", id="anonymous", name="not signed in")


def worker(process: str) -> Actor:
    """The worker whose process has this name, such as `host:4711:main`."""
    return Actor(kind="worker", id=process, name=process)
