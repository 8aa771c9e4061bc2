"""The HTTP API at /api/v1/: each floor's routes, and one shape for every error."""

import logging
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError, ValidationErrorContext

from approvals.api import router as approvals_router
from config import misfits
from config.openapi import ABOUT, completed
from runs.api import router as runs_router
from tenants import problems
from tenants.api import router as tenants_router
from tenants.bearer import BearerKey
from tenants.exact_json import BadJson
from tenants.frame import framed
from tenants.refusals import Refusal
from tenants.wire import ExactParser, ExactRenderer

logger = logging.getLogger(__name__)


class Api(NinjaAPI):
    """Ninja's API, whose document says how errors look."""

    def get_openapi_schema(self, **values: Any) -> Any:
        """The OpenAPI document, with problems and repeating keys."""
        return completed(super().get_openapi_schema(**values))

    def validation_error_from_error_contexts(
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> ValidationError:
        """Ninja's errors, each in words for a person."""
        found = super().validation_error_from_error_contexts(error_contexts)
        every = [(each, context.model) for context in error_contexts for each in _errors(context)]
        for told, (each, model) in zip(found.errors, every, strict=True):
            told["msg"] = misfits.told(each, model)
        return found


api = Api(
    title="Vermilion",
    version="1",
    description=ABOUT,
    auth=BearerKey(),
    parser=ExactParser(),
    renderer=ExactRenderer(),
    docs_url=None,
)
api.add_decorator(framed, mode="view")
api.add_router("", tenants_router)
api.add_router("", runs_router)
api.add_router("", approvals_router)


@api.exception_handler(Refusal)
def _refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    request.refusal = refusal  # type: ignore[attr-defined]
    return problems.of(refusal)


@api.exception_handler(AuthenticationError)
def _unauthorized(_request: HttpRequest, _error: AuthenticationError) -> HttpResponse:
    response = problems.problem(401)
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(HttpError)
def _http_error(_request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, BadJson):
        return problems.problem(400, code="bad_json", detail=error.__cause__.message)
    if isinstance(error.__cause__, RequestDataTooBig):
        return problems.problem(413)
    return problems.problem(error.status_code)


@api.exception_handler(BadJson)
def _bad_json(_request: HttpRequest, error: BadJson) -> HttpResponse:
    return problems.problem(400, code="bad_json", detail=error.message)


@api.exception_handler(RequestDataTooBig)
def _too_large(_request: HttpRequest, _error: RequestDataTooBig) -> HttpResponse:
    return problems.problem(413)


@api.exception_handler(Http404)
def _not_found(_request: HttpRequest, _error: Http404) -> HttpResponse:
    return problems.problem(404)


@api.exception_handler(ValidationError)
def _invalid(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    if any(each["loc"][0] == "path" for each in error.errors):
        # A malformed id is an unknown one.
        return problems.problem(404)
    errors = [{"field": _field(each["loc"]), "message": each["msg"]} for each in error.errors]
    return problems.problem(422, code="invalid", detail=_("Some of what was sent cannot be used."), errors=errors)


@api.exception_handler(Exception)
def _failed(request: HttpRequest, error: Exception) -> HttpResponse:
    down = isinstance(error, OperationalError | InterfaceError)
    logger.error("%s %s failed", request.method, request.path, exc_info=error)
    return problems.problem(503 if down else 500)


def _errors(context: ValidationErrorContext[Any]) -> list[Any]:
    return list(context.pydantic_validation_error.errors(include_url=False, include_input=False))


def _field(place: Any) -> str:
    """Where in what was sent: ninja puts the source and, in a body, the argument's name in front."""
    parts = list(place[1:])
    return ".".join(map(str, parts[1:] if place[0] == "body" and len(parts) > 1 else parts))
