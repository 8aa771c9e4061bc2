"""Rows walked to the end, oldest first, in batches of a short scope each, with none open between two."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from tenants.scope import scope

Row = TypeVar("Row", bound=Model)
Told = TypeVar("Told")


def walk(
    tenant: UUID, rows: "Callable[[], QuerySet[Row]]", *, tell: Callable[[Sequence[Row]], Sequence[Told]], batch: int
) -> Iterator[Told]:
    """What `tell` makes of the rows, `batch` at a time, in the order of their ids.

    `rows` and `tell` are called anew in each scope. An id sorts by the time it was made: what is added meanwhile
    comes last, and nothing is told twice or left out.
    """
    last = UUID(int=0)
    while True:
        with scope(tenant, read_only=True):
            found = list(rows().filter(id__gt=last).order_by("id")[:batch])
            told = tell(found) if found else []
        if not found:
            return
        yield from told
        last = found[-1].pk
