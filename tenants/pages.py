"""What the pages of settings have in common: who may open them, their tabs, and a form that was refused."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from tenants import wording
from tenants.models import Member
from tenants.refusals import Refusal, forbidden
from tenants.requests import TenantRequest
from tenants.scope import frames, scope

EVERYBODY = ("reviewer", "manager", "admin")
View = Callable[..., HttpResponseBase]
ROLES: Mapping[str, str | Promise] = {
    "reviewer": gettext_lazy("reviewer"),
    "manager": gettext_lazy("manager"),
    "admin": gettext_lazy("admin"),
}
TABS: Mapping[str, tuple[tuple[str, str | Promise, tuple[str, ...]], ...]] = {
    "tools": (
        ("settings/policies/", gettext_lazy("Rules"), ("admin",)),
        ("settings/agents/", gettext_lazy("Agents and tools"), ("admin", "manager")),
        ("settings/escalation/", gettext_lazy("Escalation"), ("admin",)),
        ("settings/calendars/", gettext_lazy("Working hours"), ("admin",)),
    ),
    "people": (
        ("settings/people/", gettext_lazy("Members"), ("admin",)),
        ("settings/groups/", gettext_lazy("Groups"), ("admin",)),
    ),
    "settings": (
        ("settings/organisation/", gettext_lazy("Organisation"), ("admin",)),
        ("settings/keys/", pgettext_lazy("API", "Keys"), ("admin",)),
        ("settings/webhooks/", gettext_lazy("Webhooks"), ("admin",)),
        ("settings/channels/", gettext_lazy("Chat channels"), ("admin",)),
        ("settings/deliveries/", gettext_lazy("Deliveries"), ("admin",)),
        ("settings/absence/", gettext_lazy("My absence"), EVERYBODY),
        ("settings/notices/", gettext_lazy("My notices"), EVERYBODY),
        ("settings/rotations/", gettext_lazy("On call"), EVERYBODY),
    ),
}


@dataclass(frozen=True)
class Tab:
    """One page of a section."""

    label: str
    url: str
    current: bool
    count: int | None = None


@dataclass(frozen=True)
class Row:
    """One line of a list of settings, with the button that ends it."""

    name: str
    text: str
    badge: str = ""
    url: str = ""
    button: str = ""
    mark: str = ""
    """What tells it from others of its name."""
    last: datetime | None = None
    """When the audit last told of it, and where."""
    last_url: str = ""


def base(request: TenantRequest) -> str:
    """The tenant's address with its slash."""
    return f"/t/{request.tenant.slug}/"


def only(*roles: str) -> Callable[[View], View]:
    """Let nobody without one of these roles in: they read who can. Raises Refusal 403."""

    def guarded(view: View) -> View:
        @wraps(view)
        def enter(request: TenantRequest, *args: Any, **names: Any) -> HttpResponseBase:
            if not request.member.has(*roles):
                raise _not_theirs(request, roles)
            return view(request, *args, **names)

        return enter

    return guarded


def tabs(member: Member, request: TenantRequest, section: str, here: str) -> list[Tab]:
    """The pages of a section that this member may open."""
    return [
        Tab(str(label), base(request) + path, current=path == here)
        for path, label, roles in TABS[section]
        if member.has(*roles)
    ]


def page(
    request: TenantRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    section: str,
    here: str,
    status: int = 200,
) -> HttpResponse:
    """The page in its section; nothing of it is kept by a browser."""
    with read(request):
        whole = {**context, "section": section, "tabs": tabs(request.member, request, section, here)}
        response = render(request, template, whole, status=status)
    add_never_cache_headers(response)
    return response


def read(request: TenantRequest) -> AbstractContextManager[None]:
    """A scope to read in: the one that is open at a GET, else one of its own."""
    return nullcontext() if frames() else scope(request.tenant.pk, read_only=True)


def done(request: TenantRequest, path: str, words: str) -> HttpResponse:
    """Back to the page, which says once what was done."""
    messages.success(request, words)
    return HttpResponseRedirect(base(request) + path, status=303)


def refused(request: TenantRequest, refusal: Refusal, form: BaseForm | None = None) -> int:
    """Put a refusal on the form it is about, each error at its field; the status of the answer. 404 is raised again."""
    if refusal.status == 404:
        raise refusal
    request.refusal = refusal
    if form is not None:
        errors = refusal.errors or [{"field": "", "message": refusal.detail}]
        for each in errors:
            name = str(each["field"])
            form.add_error(name if name in form.fields else None, str(each["message"]))
    return refusal.status


def _not_theirs(request: TenantRequest, roles: tuple[str, ...]) -> Refusal:
    with read(request):
        able = Member.objects.filter(active=True, roles__overlap=list(roles)).select_related("person")
        names = wording.listed(member.name for member in able.order_by("person__name")[:5])
    wanted = _(" or ").join(str(ROLES[role]) for role in roles)
    words = {"roles": wanted, "names": names or "–"}
    return forbidden(_("This is for the role %(roles)s. These people can: %(names)s.") % words, code="no_role")


def home(section: str) -> View:
    """A view of a section's own address: it leads to the first page of it that the reader may open."""

    def lead(request: TenantRequest, **_names: object) -> HttpResponse:
        found = tabs(request.member, request, section, "")
        if not found:
            raise _not_theirs(request, ("admin", "manager"))
        return HttpResponseRedirect(found[0].url)

    return lead
