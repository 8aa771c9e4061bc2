"""Members of the tenant: their roles, and how somebody new is invited."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from tenants import members
from tenants.models import ROLES, GroupMember, Member
from tenants.pages import add_errors, admin_request, tabs
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

ROLE_WORDS = {"reviewer": _("reviewer"), "manager": _("manager"), "admin": _("admin")}


@dataclass(frozen=True)
class MemberLine:
    """One member as the list shows them."""

    url: str
    name: str
    email: str
    roles: tuple[str, ...]
    active: bool
    groups: list[str]
    second_factor: bool
    you: bool
    away_until: datetime | None = None
    stand_in: str = ""


class Invitation(forms.Form):
    """Somebody who is to become a member."""

    email = forms.EmailField(label=_("E-mail"))
    name = forms.CharField(label=_("Name"), max_length=200)
    roles = forms.MultipleChoiceField(
        label=_("Roles"), choices=list(ROLE_WORDS.items()), widget=forms.CheckboxSelectMultiple, required=False
    )


@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """The members, and the form that invites one."""
    mine = admin_request(request)
    if request.method != "POST":
        return _page(mine, Invitation())
    form = Invitation(request.POST)
    link: str | None = None
    with scope(mine.tenant.pk):
        if form.is_valid():
            link = _invite(mine, form)
        status = 422 if form.errors else 200
        return _page(mine, Invitation() if link else form, link=link, status=status)


@require_POST
def member(request: HttpRequest, slug: str, member_id: UUID) -> HttpResponse:
    """Change what a member may do here."""
    mine = admin_request(request)
    roles, active = request.POST.getlist("roles"), request.POST.get("active") == "1"
    with scope(mine.tenant.pk):
        members.change(member_id, actor=mine.actor, roles=roles, active=active)
    return HttpResponseRedirect(f"/t/{slug}/settings/people/")


def _invite(request: TenantRequest, form: Invitation) -> str | None:
    said = form.cleaned_data
    try:
        made = members.add(said["email"], actor=request.actor, roles=said["roles"], name=said["name"])
    except Refusal as refusal:
        add_errors(form, refusal)
        return None
    return members.invitation_if_new(made.person) or ""


def _page(request: TenantRequest, form: Invitation, *, link: str | None = None, status: int = 200) -> HttpResponse:
    base = f"/t/{request.tenant.slug}/settings/people/"
    view = {
        "members": _lines(request, base),
        "roles": ROLES,
        "invite_url": base,
        "invited": link is not None,
        "invitation": link,
    }
    context = {"view": view, "form": form, "section": "people", "tabs": tabs(request, "people", "members")}
    return render(request, "settings/members.html", context, status=status)


def _lines(request: TenantRequest, base: str) -> list[MemberLine]:
    rows = list(Member.objects.select_related("person").order_by("-active", "person__name", "id"))
    groups: dict[Any, list[str]] = {}
    for each in GroupMember.objects.select_related("group").order_by("group__name"):
        groups.setdefault(each.member_id, []).append(each.group.name)
    persons = [row.person_id for row in rows]
    factors = set(Authenticator.objects.filter(user_id__in=persons, type="totp").values_list("user_id", flat=True))
    return [
        MemberLine(
            url=f"{base}{row.pk}/",
            name=row.name,
            email=row.email,
            roles=tuple(row.roles),
            active=row.active,
            groups=groups.get(row.pk, []),
            second_factor=row.person_id in factors,
            you=row.pk == request.member.pk,
        )
        for row in rows
    ]
