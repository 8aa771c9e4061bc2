"""The members of the tenant: invited, given roles, switched off and on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from allauth.mfa.models import Authenticator
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from tenants import members, pages
from tenants.forms import Invitation
from tenants.models import ROLES, GroupMember, Member
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

HERE = "settings/people/"
AWAY: list[Callable[[], dict[UUID, tuple[datetime, str]]]] = []
"""Who can say which members are away: until when, and who stands in; the floor above registers."""


@dataclass(frozen=True)
class MemberLine:
    """One member; `roles` and `active` as they are, or as they were just typed."""

    name: str
    email: str
    roles: Sequence[str]
    active: bool
    groups: Sequence[str]
    second_factor: bool
    url: str
    you: bool
    invited: bool = False
    """They have not chosen a password yet."""
    away_until: datetime | None = None
    stand_in: str = ""


@dataclass(frozen=True)
class PeopleView:
    """All members, and what was just done."""

    members: Sequence[MemberLine]
    invite_url: str
    problem: str = ""
    invitation: str = ""
    roles: Sequence[str] = ROLES


@require_http_methods(["GET", "HEAD"])
@pages.only("admin")
def every(request: TenantRequest, **_names: object) -> HttpResponse:
    """The members."""
    return _page(request, Invitation())


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def invite(request: TenantRequest, **_names: object) -> HttpResponse:
    """Make somebody a member; the answer shows the link under which they choose a password."""
    if request.method != "POST":
        return _page(request, Invitation())
    form = Invitation(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    sent = form.cleaned_data
    try:
        with scope(request.tenant.pk):
            found = members.add(
                sent["email"], actor=request.actor, roles=sent["roles"], name=sent["name"], channel="page"
            )
            link = members.invitation_if_new(found.person)
    except Refusal as refusal:
        return _page(request, form, status=pages.refused(request, refusal, form))
    if link is None:
        return pages.done(request, HERE, _("%(name)s is a member now.") % {"name": found.name})
    return _page(request, Invitation(), invitation=link)


@require_POST
@pages.only("admin")
def change(request: TenantRequest, member_id: UUID, **_names: object) -> HttpResponse:
    """Give a member other roles, or switch them off or on."""
    roles, active = request.POST.getlist("roles"), request.POST.get("active") == "1"
    try:
        with scope(request.tenant.pk):
            found = members.change(member_id, actor=request.actor, roles=roles, active=active, channel="page")
    except Refusal as refusal:
        status = pages.refused(request, refusal)
        typed = {member_id: (roles, active)}
        return _page(request, Invitation(), status=status, problem=str(refusal.detail), typed=typed)
    if found.pk == request.member.pk and not (found.active and "admin" in found.roles):
        return _left(request, found)
    return pages.done(request, HERE, _("Saved: %(name)s.") % {"name": found.name})


def _left(request: TenantRequest, found: Member) -> HttpResponse:
    """To a page that an admin who is none any more may see; one who is off sees none of this tenant."""
    if not found.active:
        return HttpResponseRedirect("/", status=303)
    return pages.done(request, "inbox/", _("Saved: you are no admin any more."))


@require_POST
@pages.only("admin")
def invite_again(request: TenantRequest, member_id: UUID, **_names: object) -> HttpResponse:
    """Another link for a member who never chose a password."""
    with pages.read(request):
        link = members.invitation_if_new(members.member(member_id).person)
    if link is None:
        return pages.done(request, HERE, _("They have chosen a password already."))
    return _page(request, Invitation(), invitation=link)


Typed = dict[UUID, tuple[list[str], bool]]


def _page(
    request: TenantRequest,
    form: Invitation,
    *,
    status: int = 200,
    problem: str = "",
    invitation: str = "",
    typed: Typed | None = None,
) -> HttpResponse:
    with pages.read(request):
        lines = _lines(request, typed or {})
    view = PeopleView(
        members=lines,
        invite_url=f"{pages.base(request)}{HERE}invite/",
        problem=problem,
        invitation=invitation,
    )
    context = {"view": view, "form": form}
    return pages.page(request, "settings/members.html", context, section="people", here=HERE, status=status)


def _lines(request: TenantRequest, typed: Typed) -> list[MemberLine]:
    found = list(Member.objects.select_related("person").order_by("-active", "person__name", "person__email", "id"))
    groups: dict[UUID, list[str]] = {}
    for row in GroupMember.objects.select_related("group").order_by("group__name"):
        groups.setdefault(row.member_id, []).append(row.group.name)
    people = [member.person_id for member in found]
    away = {key: told for say in AWAY for key, told in say().items()}
    factors = set(Authenticator.objects.filter(user__in=people).values_list("user_id", flat=True))
    return [
        MemberLine(
            name=member.name,
            email=member.email,
            roles=typed.get(member.pk, (member.roles, False))[0],
            active=typed.get(member.pk, ([], member.active))[1],
            groups=groups.get(member.pk, []),
            second_factor=member.person_id in factors,
            url=f"{pages.base(request)}{HERE}{member.pk}/",
            you=member.pk == request.member.pk,
            invited=not member.person.has_usable_password(),
            away_until=away[member.pk][0] if member.pk in away else None,
            stand_in=away[member.pk][1] if member.pk in away else "",
        )
        for member in found
    ]
