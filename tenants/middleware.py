"""From an address to a tenant: the slug and the membership, never the session, give the scope."""

import re
import zoneinfo
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import cast
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import render, resolve_url
from django.urls import is_valid_path
from django.utils import timezone, translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from tenants import doors, members, problems, refused
from tenants.models import Member, Tenant
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

DEEDS = re.compile(r"(?<=/)(decide|viewed|comment|settle|pause|resume|cancel|retry)/$")
"""Ends of addresses that only take a POST; what stands before them is a page."""
Respond = Callable[[HttpRequest], HttpResponseBase]


class TenantMiddleware:
    """Around `/t/{slug}/…`: sets `tenant`, `member` and `actor`; a slug one is no member of answers 404.

    GET and HEAD run, and are rendered, in the tenant's scope, which PostgreSQL keeps read-only. A POST
    opens none, its command does. What a POST is refused is entered in the audit.
    """

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        parts = request.path_info.split("/", 3)
        if parts[1] != "t" or len(parts) < 4:
            return self.get_response(request)
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        membership = doors.membership(request.user.pk, parts[2])
        if membership is None:
            raise Http404
        with scope(membership.tenant, read_only=True):
            member = members.member_for(request.user.pk)
            if member is None:
                raise Http404
            mine = _known(request, member)
            if request.method in refused.SAFE:
                with _language_and_zone(mine):
                    response = self.get_response(mine)
                return _to_page(request) if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED else response
        with _language_and_zone(mine):
            return self._unsafe(mine)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """A refusal that no view made into a page becomes a plain one, with its sentence."""
        if not isinstance(error, Refusal):
            return None
        request.refusal = error  # type: ignore[attr-defined]
        template = f"{error.status}.html" if error.status in refused.RECORDED else "400.html"
        return render(request, template, {"reason_text": error.detail}, status=error.status)

    def _unsafe(self, request: TenantRequest) -> HttpResponseBase:
        response = self.get_response(request)
        refused.record(request, response, tenant=request.tenant.pk, actor=request.actor, channel="page")
        return response


class ProblemMiddleware:
    """Under /api/ every error is a problem: also an unknown path and a method nobody answers."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not request.path_info.startswith("/api/") or response.status_code < 400:
            return response
        if response.headers.get("Content-Type", "").startswith(problems.MEDIA_TYPE):
            return response
        answer = problems.problem(response.status_code)
        if "Allow" in response.headers:
            answer["Allow"] = response.headers["Allow"]
        return answer


class CleanMiddleware:
    """An address with a NUL character in it is refused before anything reads it."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return HttpResponseBadRequest(_("An address holds the NUL character, which cannot be kept."))
        return self.get_response(request)


def _to_page(request: HttpRequest) -> HttpResponseBase:
    """The address of a deed stands in the address bar after a refused POST; opened, it leads to the page above it."""
    path = request.path_info
    while (path := path.rstrip("/").rpartition("/")[0] + "/") != "/" and not is_valid_path(path):
        continue
    return HttpResponseRedirect(path)


def _to_sign_in(request: HttpRequest) -> HttpResponseBase:
    if request.method in refused.SAFE:
        response = redirect_to_login(request.get_full_path())
    else:
        response = redirect_to_login(_form_of(request), f"{resolve_url(settings.LOGIN_URL)}?unsent=1")
    # htmx would put the sign-in page into a part of this one; so the whole page goes there.
    return HttpResponseClientRedirect(response.url) if "HX-Request" in request.headers else response


def _form_of(request: HttpRequest) -> str:
    """The page that a form was sent from, as far as the browser tells: a tenant's page, which can be opened."""
    told = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(told, {request.get_host()}, require_https=request.is_secure())
    page = urlsplit(told) if ours else None
    found = page if page and page.path.startswith("/t/") else urlsplit(request.path)
    path = DEEDS.sub("", found.path)
    return f"{path}?{found.query}" if found.query and path == found.path else path


def _known(request: HttpRequest, member: Member) -> TenantRequest:
    mine = cast("TenantRequest", request)
    mine.tenant = Tenant.objects.get(pk=member.tenant_id)
    mine.member, mine.actor, mine.refusal = member, members.actor_of(member), None
    return mine


@contextmanager
def _language_and_zone(request: TenantRequest) -> Iterator[None]:
    language = request.member.locale or request.tenant.locale
    zone = _zone(request.member.timezone or request.tenant.timezone)
    with translation.override(language), timezone.override(zone):
        yield


def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")
