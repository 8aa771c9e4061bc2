"""The groups of the tenant: made, filled, renamed, deleted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from tenants import groups, ids, pages
from tenants.forms import NewGroup
from tenants.models import Group, GroupMember, Member
from tenants.refusals import Refusal, not_found
from tenants.requests import TenantRequest
from tenants.scope import scope

HERE = "settings/groups/"
USED_BY: list[Callable[[], dict[str, list[str]]]] = []
"""Who can say which rules ask a group, by its id; the floor above registers."""


@dataclass(frozen=True)
class Someone:
    """A member, in a group or not yet."""

    id: str
    name: str


@dataclass(frozen=True)
class GroupCard:
    """One group."""

    name: str
    url: str
    members: Sequence[Someone]
    candidates: Sequence[Someone]
    rules: Sequence[str] = ()


@dataclass(frozen=True)
class GroupsView:
    """All groups."""

    url: str
    groups: Sequence[GroupCard] = field(default_factory=list)
    problem: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def every(request: TenantRequest, **_names: object) -> HttpResponse:
    """The groups, or a new one."""
    if request.method != "POST":
        return _page(request, NewGroup())
    form = NewGroup(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    name = form.cleaned_data["name"]
    try:
        with scope(request.tenant.pk):
            groups.create(name, actor=request.actor, channel="page")
    except Refusal as refusal:
        return _page(request, form, status=pages.refused(request, refusal, form))
    return pages.done(request, HERE, _("The group “%(name)s” is made.") % {"name": name})


@require_POST
@pages.only("admin")
def add(request: TenantRequest, group_id: UUID, **_names: object) -> HttpResponse:
    """Let a member into the group."""
    return _act(request, lambda: groups.add(group_id, _member(request), actor=request.actor, channel="page"))


@require_POST
@pages.only("admin")
def remove(request: TenantRequest, group_id: UUID, **_names: object) -> HttpResponse:
    """Take a member out of the group."""
    return _act(request, lambda: groups.remove(group_id, _member(request), actor=request.actor, channel="page"))


@require_POST
@pages.only("admin")
def rename(request: TenantRequest, group_id: UUID, **_names: object) -> HttpResponse:
    """Name the group anew."""
    form = NewGroup(request.POST)
    name = form.cleaned_data["name"] if form.is_valid() else ""
    if not name:
        return _page(request, NewGroup(), status=422, problem=_("A group has a name of at most 100 characters."))
    return _act(request, lambda: groups.change(group_id, actor=request.actor, name=name, channel="page"))


@require_POST
@pages.only("admin")
def delete(request: TenantRequest, group_id: UUID, **_names: object) -> HttpResponse:
    """Delete the group."""
    return _act(request, lambda: groups.delete(group_id, actor=request.actor, channel="page"))


def _act(request: TenantRequest, work: Callable[[], object]) -> HttpResponse:
    try:
        with scope(request.tenant.pk):
            work()
    except Refusal as refusal:
        status = pages.refused(request, refusal)
        return _page(request, NewGroup(), status=status, problem=str(refusal.detail))
    return pages.done(request, HERE, _("Saved."))


def _member(request: TenantRequest) -> UUID:
    found = ids.parse(request.POST.get("member", ""))
    if found is None:
        raise not_found(_("There is no such member."))
    return found


def _page(request: TenantRequest, form: NewGroup, *, status: int = 200, problem: str = "") -> HttpResponse:
    with pages.read(request):
        view = GroupsView(url=pages.base(request) + HERE, groups=_cards(pages.base(request)), problem=problem)
    context = {"view": view, "form": form}
    return pages.page(request, "settings/groups.html", context, section="people", here=HERE, status=status)


def _cards(base: str) -> list[GroupCard]:
    rows = GroupMember.objects.select_related("member__person").order_by("member__person__name")
    inside: dict[UUID, list[Member]] = {}
    for row in rows:
        inside.setdefault(row.group_id, []).append(row.member)
    everyone = list(Member.objects.filter(active=True).select_related("person").order_by("person__name"))
    rules = {key: names for source in USED_BY for key, names in source().items()}
    return [
        GroupCard(
            name=group.name,
            url=f"{base}{HERE}{group.pk}/",
            members=[Someone(str(each.pk), each.name) for each in inside.get(group.pk, [])],
            candidates=[Someone(str(each.pk), each.name) for each in everyone if each not in inside.get(group.pk, [])],
            rules=rules.get(str(group.pk), []),
        )
        for group in Group.objects.order_by("name", "id")
    ]
