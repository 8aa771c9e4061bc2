"""Errors of the API: RFC 9457, with a stable code for programs and a sentence for people."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tenants import wire
from tenants.refusals import Refusal

MEDIA_TYPE = "application/problem+json"

SENTENCES: dict[int, tuple[str, str | Promise]] = {
    400: ("bad_request", _("The request cannot be read.")),
    401: ("unauthorized", _("The request carries no key that is valid here.")),
    403: ("forbidden", _("This key may not do that.")),
    404: ("not_found", _("There is nothing at this address.")),
    405: ("method_not_allowed", _("This address does not answer that method.")),
    413: ("too_large", _("The request is larger than is accepted.")),
    500: ("internal", _("The server failed at this request. What happened is in its log.")),
    503: ("unavailable", _("A service behind this one does not answer. Try again in a moment.")),
}


def problem(
    status: int,
    *,
    code: str = "",
    detail: str | Promise = "",
    errors: Sequence[Mapping[str, Any]] = (),
    standing: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """The answer for an error; without a code and a sentence, those of its status."""
    usual_code, usual_detail = SENTENCES.get(status, ("error", HTTPStatus(status).phrase))
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail or usual_detail,
        "code": code or usual_code,
    }
    if errors:
        body["errors"] = list(errors)
    if standing:
        body["standing"] = dict(standing)
    return HttpResponse(wire.text(body), status=status, content_type=MEDIA_TYPE)


def of(refusal: Refusal) -> HttpResponse:
    """The answer for a refusal."""
    return problem(
        refusal.status,
        code=refusal.code,
        detail=refusal.detail,
        errors=refusal.errors,
        standing=refusal.standing,
    )
