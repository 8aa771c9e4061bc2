"""The audit chain: who did what to what, when, each entry sealed onto the one before."""

from collections.abc import Mapping
from typing import Any

from tenants.actors import Actor


def record(
    action: str,
    *,
    actor: Actor,
    target: str,
    detail: Mapping[str, Any] | None = None,
    refused: bool = False,
    channel: str = "",
) -> None:
    """Append an entry in the transaction in hand. Call it last: it locks the tenant's head until commit.

    `action` is a stable name such as `run.cancelled`; `target` is `kind:id`; `detail` is any JSON object
    and counts as personal; `channel` is `page`, `api`, `link`, `callback` or `command`.
    """
    raise NotImplementedError
