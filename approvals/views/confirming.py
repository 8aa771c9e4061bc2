"""The second step of an answer to a critical request: the same figures, and a one-time code."""

from dataclasses import replace
from uuid import UUID

from django.http import HttpResponse

from approvals.pages.parts import Confirm
from approvals.views import reading
from tenants.requests import TenantRequest

_NOT_CARRIED = ("csrfmiddlewaretoken", "code", "confirm")


def page(request: TenantRequest, request_id: UUID, *, error: str) -> HttpResponse:
    """The page that asks for the code and carries the answer along; inside a scope."""
    view = reading.view_of(request, request_id)
    carried = [(name, str(value)) for name, value in request.POST.items() if name not in _NOT_CARRIED]
    confirm = Confirm(
        decision=request.POST.get("decision", ""),
        title=view.title,
        params=view.params,
        hidden=[*carried, ("confirm", "1")],
        error=error,
    )
    return reading.page(request, replace(view, confirm=confirm), status=403)
