"""The only way to set a tenant: one transaction, in which row security sees that tenant's rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from tenants import prepared
from tenants.errors import NoTenant
from tenants.here import database

_ENTER = "SELECT current_setting('app.tenant', true), set_config('app.tenant', $1::text, true)"
_ENTER_TO_READ = f"{_ENTER}, set_config('transaction_read_only', 'on', true)"


ENTER = "SELECT set_config('app.tenant', $1::text, true)"
"""What several statements that are sent together begin with, for the one transaction they are."""


@dataclass(slots=True)
class Frame:
    """One open scope: its tenant, and the subject whose lock its transaction holds."""

    tenant: UUID
    subject: tuple[UUID, str] | None = None


def frames() -> list[Frame]:
    """The scopes open on this thread's connection, the outermost first; they are kept on it."""
    stack: list[Frame] = vars(database()).setdefault("tenant_scopes", [])
    return stack


def current() -> UUID:
    """The tenant in scope; raises NoTenant outside of one."""
    stack = frames()
    if not stack:
        raise NoTenant("Open tenants.scope.scope(tenant) first.")
    return stack[-1].tenant


@contextmanager
def scope(tenant_id: UUID, *, read_only: bool = False) -> Iterator[None]:
    """One transaction that sees and writes the rows of this tenant, and of no other.

    Scopes nest; the former tenant is restored, also where the inner one is another. With `read_only`
    PostgreSQL itself refuses every write.
    """
    here = database()
    nested = here.in_atomic_block
    stack = frames()
    frame = Frame(tenant_id, stack[-1].subject if stack else None)
    with transaction.atomic():
        before = _enter(tenant_id, read_only=read_only, nested=nested)
        stack.append(frame)
        try:
            yield
            if not here.needs_rollback:
                prepared.flush(commit=not nested)
        finally:
            prepared.forget()
            stack.pop()
        if stack:
            stack[-1].subject = frame.subject
        if nested:
            # A released savepoint keeps the setting, so it is put back by hand; a rollback restores it.
            _set(before)


def _enter(tenant_id: UUID, *, read_only: bool, nested: bool) -> str:
    """Set the tenant; the former one. The outermost scope has none before it, and sets its own with its first query."""
    query, values = _ENTER_TO_READ if read_only else _ENTER, (str(tenant_id),)
    if not nested:
        prepared.later(query, values)
        return ""
    before, *_now = prepared.one(query, values)
    return before or ""


def _set(value: str) -> None:
    with database().cursor() as cursor:
        cursor.execute("SELECT set_config('app.tenant', %s, true)", [value])
