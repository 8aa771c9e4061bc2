"""Groups of members: who is in which, and a new one."""

from dataclasses import dataclass
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from tenants import groups, ids, members
from tenants.models import Group, Member
from tenants.pages import add_errors, admin_request, tabs
from tenants.refusals import Refusal, not_found
from tenants.requests import TenantRequest
from tenants.scope import scope


@dataclass(frozen=True)
class InGroup:
    """A member in a group, or one who could be."""

    id: str
    name: str
    away: bool = False


@dataclass(frozen=True)
class GroupCard:
    """One group with its members."""

    url: str
    name: str
    members: list[InGroup]
    candidates: list[InGroup]


class NewGroup(forms.Form):
    """A group that is to be made."""

    name = forms.CharField(label=_("Name"), max_length=100)


@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """The groups, and the form that makes one."""
    mine = admin_request(request)
    if request.method != "POST":
        return _page(mine, NewGroup())
    form = NewGroup(request.POST)
    with scope(mine.tenant.pk):
        if form.is_valid():
            try:
                groups.create(form.cleaned_data["name"], actor=mine.actor)
            except Refusal as refusal:
                add_errors(form, refusal)
        if form.errors:
            return _page(mine, form, status=422)
    return HttpResponseRedirect(f"/t/{slug}/settings/groups/")


@require_POST
def add(request: HttpRequest, slug: str, group_id: UUID) -> HttpResponse:
    """Put a member into the group."""
    mine = admin_request(request)
    with scope(mine.tenant.pk):
        found = groups.group(group_id)
        new = members.member(_member_id(request))
        emails = [each.member.email for each in found.memberships.select_related("member__person")]
        groups.change(group_id, actor=mine.actor, emails=[*emails, new.email])
    return HttpResponseRedirect(f"/t/{slug}/settings/groups/")


@require_POST
def remove(request: HttpRequest, slug: str, group_id: UUID) -> HttpResponse:
    """Take a member out of the group."""
    mine = admin_request(request)
    with scope(mine.tenant.pk):
        groups.remove(group_id, _member_id(request), actor=mine.actor)
    return HttpResponseRedirect(f"/t/{slug}/settings/groups/")


def _member_id(request: HttpRequest) -> UUID:
    found = ids.parse(request.POST.get("member", ""))
    if found is None:
        raise not_found(_("There is no such member."))
    return found


def _page(request: TenantRequest, form: NewGroup, *, status: int = 200) -> HttpResponse:
    base = f"/t/{request.tenant.slug}/settings/groups/"
    people = {row.pk: row for row in Member.objects.select_related("person").filter(active=True)}
    rows = Group.objects.prefetch_related("memberships").order_by("name")
    cards = [_card(row, people, base) for row in rows]
    context = {
        "view": {"url": base, "groups": cards},
        "form": form,
        "section": "people",
        "tabs": tabs(request, "people", "groups"),
    }
    return render(request, "settings/groups.html", context, status=status)


def _card(row: Group, people: dict[UUID, Member], base: str) -> GroupCard:
    inside = {each.member_id for each in row.memberships.all()}
    return GroupCard(
        url=f"{base}{row.pk}/",
        name=row.name,
        members=[InGroup(str(key), each.name) for key, each in people.items() if key in inside],
        candidates=[InGroup(str(key), each.name) for key, each in people.items() if key not in inside],
    )
