"""The one way back up: what a request came to, told inside the transaction that decided it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.dispatch import Signal

request_resolved = Signal()
"""Sent with `send` (a receiver that fails makes the decision fail), sender `ApprovalRequest`.

Keyword arguments: `request` (the row), `subject`, `ref`, `status` (the finished one), `text` (what the model
reads in the tool's place; empty for `approved`), `actor`, `fail_run` (True when silence fails the run), and `story`
(None, or the events of a person's yes, which are yet to be written: a receiver that writes them with its own returns
True).
"""


Told = tuple[str, str, Mapping[str, Any]]
"""An event's name, message and data."""


@dataclass(frozen=True)
class Story:
    """The events of an answer, in their order and by its actor; `then` hears the number of the last one written."""

    told: tuple[Told, Told]
    then: Callable[[int], None]


@dataclass(frozen=True)
class SilentHearing:
    """How the receiver of `request_resolved` hears it in the statement that ends a request, where silence ends many.

    `sql` is an expression over `$1::uuid` (tenant), `$2::uuid` (request), `$3::text` (subject), `$5::jsonb` (actor),
    `$9::text` (what the model reads of a call that got no yes), `ended.ref` and `ended.code` (the status). Its value is
    one text, or NULL where it is not meant. `then` hears tenant, subject and that text after the commit.
    """

    sql: str
    then: Callable[[UUID, str, str], None]


silent_hearings: list[SilentHearing] = []
"""That of the floor above, which adds it when it is ready."""
