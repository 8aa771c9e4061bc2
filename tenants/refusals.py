"""A refusal is a value: what was asked is not done, and the one who asked is told why."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import Promise


class Refusal(Exception):
    """A person or program asked for something that will not be done.

    `code` is stable and for programs; `detail` is a sentence for people; `standing` is the state that
    won, `{status, by, at}`, where there is one; `errors` lists `{field, message}` for what was sent;
    `target` is what the audit names, such as `run:<id>`.
    """

    def __init__(
        self,
        code: str,
        *,
        detail: str | Promise,
        status: int = 409,
        standing: Mapping[str, Any] | None = None,
        errors: Sequence[Mapping[str, Any]] = (),
        target: str = "",
    ) -> None:
        super().__init__(code)
        self.code = code
        self.status = status
        self.detail = detail
        self.standing = dict(standing) if standing else None
        self.errors = [dict(error) for error in errors]
        self.target = target
        self.recorded = False  # An audit entry of it has been committed already.
        self.challenge = False  # A fresh second factor would lead out of it.


def not_found(detail: str | Promise, *, code: str = "not_found") -> Refusal:
    """The one answer to a foreign id and to an unknown one."""
    return Refusal(code, detail=detail, status=404)


def forbidden(detail: str | Promise, *, code: str = "forbidden") -> Refusal:
    """The one who asked is known, and may not."""
    return Refusal(code, detail=detail, status=403)


def invalid(detail: str | Promise, *, code: str = "invalid", errors: Sequence[Mapping[str, Any]] = ()) -> Refusal:
    """What was sent cannot be used; `errors` says which fields and why."""
    return Refusal(code, detail=detail, status=422, errors=errors)
