"""Pages that try what a page may not: the addresses of `test_tenant_addresses`."""

from typing import Any

from django.http import HttpResponse
from django.template import engines
from django.template.response import TemplateResponse
from django.urls import include, path
from django.utils import timezone, translation

from tenants.models import Group, Member
from tenants.refusals import Refusal
from tenants.scope import current


def lazy(request: Any, slug: str) -> TemplateResponse:
    template = engines["django"].from_string("{% for each in people %}{{ each.person.email }} {% endfor %}")
    return TemplateResponse(request, template, {"people": Member.objects.select_related("person")})


def writes(request: Any, slug: str) -> HttpResponse:
    Group.objects.create(tenant_id=current(), name="written by a GET")
    return HttpResponse("written")


def refuses(request: Any, slug: str) -> HttpResponse:
    raise Refusal("already_decided", detail="Bo approved it two minutes ago.", target="request:1")


def shows(request: Any, slug: str) -> HttpResponse:
    return HttpResponse(f"{translation.get_language()} {timezone.get_current_timezone_name()} {request.actor.member}")


urlpatterns = [
    path("accounts/", include("allauth.urls")),
    path("t/<slug:slug>/lazy/", lazy),
    path("t/<slug:slug>/writes/", writes),
    path("t/<slug:slug>/refuses/", refuses),
    path("t/<slug:slug>/shows/", shows),
]
