"""Who an API request speaks for, and what its key and its owner's roles both allow."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.security import HttpBearer

from tenants import keys
from tenants.keys import Bearer
from tenants.refusals import forbidden
from tenants.requests import KeyRequest


class BearerKey(HttpBearer):
    """`Authorization: Bearer vm_…`; the frame has read it by the time this is asked."""

    def authenticate(self, request: HttpRequest, token: str) -> Any:  # noqa: ARG002
        """Who the key speaks for, or None."""
        return getattr(request, "bearer", None)


def read(request: HttpRequest) -> Bearer | None:
    """Who the request's key speaks for; None without a key that is valid."""
    scheme, _space, text = request.headers.get("Authorization", "").partition(" ")
    return keys.verify(text.strip()) if scheme.lower() == "bearer" else None


def demand(request: KeyRequest, scope: str, *roles: str) -> Bearer:
    """The bearer, if the key has this scope and its owner one of these roles; else raises Refusal 403."""
    bearer = request.bearer
    if bearer is None or scope not in bearer.scopes:
        raise forbidden(_("This key does not have the scope %(scope)s.") % {"scope": scope}, code="no_scope")
    if roles and not bearer.member.has(*roles):
        names = {"roles": ", ".join(roles)}
        raise forbidden(_("This needs one of the roles: %(roles)s.") % names, code="no_role")
    return bearer
