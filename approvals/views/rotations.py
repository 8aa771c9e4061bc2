"""The pages of being on call: rotations, who has the next turns, and who steps in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals import clock, rotas, rotations
from approvals.models import Rotation
from approvals.rosters import Roster, roster
from approvals.rotas import Turn
from approvals.time_forms import OverrideForm, RotationForm
from tenants import members, pages
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

HERE = "settings/rotations/"
MOST = 100
AHEAD = timedelta(days=14)


@dataclass(frozen=True)
class TurnLine:
    """Who is on call from when until when; `instead_of` are those who no longer answer requests."""

    who: str
    starts: datetime
    ends: datetime
    now: bool
    override: bool
    instead_of: Sequence[str]
    begun: bool


@dataclass(frozen=True)
class OverrideLine:
    """Who steps in from when until when."""

    who: str
    starts: datetime
    ends: datetime
    end_url: str


@dataclass(frozen=True)
class RotationCard:
    """One rotation with the two weeks to come."""

    name: str
    url: str
    edit_url: str
    zone: str
    users: Sequence[str]
    begins: datetime
    now: TurnLine
    turns: Sequence[TurnLine]
    overrides: Sequence[OverrideLine] = ()


@dataclass(frozen=True)
class RotationsView:
    """All rotations, or one; the form is for an admin."""

    url: str
    rotations: Sequence[RotationCard]
    form_url: str = ""
    form_title: str = ""
    new_url: str = ""
    archive_url: str = ""
    override_url: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only(*pages.EVERYBODY)
def every(request: TenantRequest, **_names: object) -> HttpResponse:
    """The rotations for everybody; an admin makes a new one."""
    if request.method != "POST":
        return _list(request, _blank(request))
    with pages.read(request):
        form = RotationForm(request.POST)
        if not request.member.has("admin") or not form.is_valid():
            return _list(request, form, status=422 if request.member.has("admin") else 403)
    try:
        with scope(request.tenant.pk):
            rotations.create(actor=request.actor, channel="page", **form.body())
    except Refusal as refusal:
        return _list(request, form, status=_put(request, refusal, form))
    return pages.done(request, HERE, _("The rotation is made. Levels of an escalation policy can ask it now."))


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def edit(request: TenantRequest, rotation_id: UUID, **_names: object) -> HttpResponse:
    """One rotation, changed."""
    with pages.read(request):
        row = rotations.found(rotation_id)
        if request.method != "POST":
            return _one(request, row, _form_of(row))
        form = RotationForm(request.POST)
        if not form.is_valid():
            return _one(request, row, form, status=422)
    try:
        with scope(request.tenant.pk):
            rotations.change(rotation_id, actor=request.actor, changes=form.body(), channel="page")
    except Refusal as refusal:
        return _one(request, row, form, status=_put(request, refusal, form))
    return pages.done(request, f"{HERE}{row.pk}/", _("Saved. What waits is asked of whoever is on call now."))


@require_safe
@pages.only(*pages.EVERYBODY)
def one(request: TenantRequest, rotation_id: UUID, **_names: object) -> HttpResponse:
    """One rotation with the turns to come; admins and managers let somebody step in."""
    with pages.read(request):
        row = rotations.found(rotation_id)
        form = OverrideForm() if request.member.has("admin", "manager") else None
        return _one(request, row, form)


@require_POST
@pages.only("admin", "manager")
def override(request: TenantRequest, rotation_id: UUID, **_names: object) -> HttpResponse:
    """Let somebody step in."""
    with pages.read(request):
        row = rotations.found(rotation_id)
        form = OverrideForm(request.POST)
        if not form.is_valid():
            return _one(request, row, form, status=422)
    sent = form.cleaned_data
    try:
        with scope(request.tenant.pk):
            rotations.override(
                rotation_id,
                actor=request.actor,
                member=members.member(UUID(sent["member"])),
                starts=sent["starts"],
                ends=sent["until"],
                channel="page",
            )
    except Refusal as refusal:
        refusal.errors = [
            {**each, "field": {"from": "starts"}.get(each["field"], each["field"])} for each in refusal.errors
        ]
        return _one(request, row, form, status=pages.refused(request, refusal, form))
    return pages.done(request, f"{HERE}{row.pk}/", _("Saved. What waits is asked of them once their time begins."))


@require_POST
@pages.only("admin", "manager")
def end(request: TenantRequest, rotation_id: UUID, override_id: UUID, **_names: object) -> HttpResponse:
    """End an override now."""
    with scope(request.tenant.pk):
        rotations.withdraw(rotation_id, override_id, actor=request.actor, channel="page")
    return pages.done(request, f"{HERE}{rotation_id}/", _("Ended. Votes that were given stay valid."))


@require_POST
@pages.only("admin")
def archive(request: TenantRequest, rotation_id: UUID, **_names: object) -> HttpResponse:
    """Let nothing name it."""
    try:
        with scope(request.tenant.pk):
            rotations.archive(rotation_id, actor=request.actor, channel="page")
    except Refusal as refusal:
        with pages.read(request):
            row = rotations.found(rotation_id)
            form = _form_of(row)
        said = str(refusal.errors[0]["message"]) if refusal.errors else str(refusal.detail)
        return _one(request, row, form, status=pages.refused(request, refusal), problem=said)
    return pages.done(request, HERE, _("The rotation is archived."))


def _put(request: TenantRequest, refusal: Refusal, form: RotationForm) -> int:
    if refusal.status == 404:
        raise refusal
    request.refusal = refusal
    form.refuse(refusal.errors or [{"field": "", "message": refusal.detail}])
    return refusal.status


def _blank(request: TenantRequest) -> RotationForm | None:
    if not request.member.has("admin"):
        return None
    with pages.read(request):
        today = clock.now().date().isoformat()
        zone = request.tenant.timezone
        return RotationForm(initial={"every": "week", "handover": "09:00", "first_day": today, "zone": zone})


def _form_of(row: Rotation) -> RotationForm:
    shown = rotations.written(row)
    places = {f"member{number}": member for number, member in enumerate(shown["members"], start=1)}
    return RotationForm(initial={**shown, **places}, members=len(places))


def _list(request: TenantRequest, form: RotationForm | None, *, status: int = 200) -> HttpResponse:
    url = pages.base(request) + HERE
    with pages.read(request):
        people = roster()
        rows = Rotation.objects.filter(archived_at__isnull=True).order_by("name", "id")[:MOST]
        view = RotationsView(
            url=url,
            rotations=[_card(row, people, url) for row in rows],
            form_url=url,
            form_title=_("New rotation"),
        )
    return _shown(request, view, form, status=status)


def _one(request: TenantRequest, row: Rotation, form: Any, *, status: int = 200, problem: str = "") -> HttpResponse:
    url = pages.base(request) + HERE
    with pages.read(request):
        card = _card(row, roster(), url, whole=True)
    stepping_in = isinstance(form, OverrideForm)
    view = RotationsView(
        url=url,
        rotations=[card],
        form_url=f"{url}{row.pk}/override/" if stepping_in else f"{url}{row.pk}/edit/",
        form_title=_("Let somebody step in") if stepping_in else _("Change “%(name)s”") % {"name": row.name},
        new_url=url,
        archive_url="" if stepping_in or form is None else f"{url}{row.pk}/archive/",
    )
    return _shown(request, view, form, status=status, problem=problem)


def _shown(request: TenantRequest, view: RotationsView, form: Any, *, status: int, problem: str = "") -> HttpResponse:
    context = {
        "view": view,
        "form": form,
        "problem": problem,
        "stepping_in": isinstance(form, OverrideForm),
        "may_edit": request.member.has("admin"),
        "may_step_in": request.member.has("admin", "manager"),
    }
    return pages.page(request, "settings/rotations.html", context, section="settings", here=HERE, status=status)


def _card(row: Rotation, people: Roster, url: str, *, whole: bool = False) -> RotationCard:
    rota = people.rotations[str(row.pk)].rota
    turns = rotas.turns(rota, people.now, people.now + AHEAD, people.reviewers)
    lines = [_turn(each, people) for each in turns]
    made = rotations.open_overrides(row) if whole else ()
    return RotationCard(
        name=row.name,
        url=f"{url}{row.pk}/",
        edit_url=f"{url}{row.pk}/edit/",
        zone=row.zone,
        users=rotations.users_of(row) if whole else (),
        begins=rotas.begins(rota),
        now=lines[0],
        turns=lines if whole else lines[1:3],
        overrides=[
            OverrideLine(people.name(each.member_id), each.starts, each.ends, f"{url}{row.pk}/override/{each.pk}/end/")
            for each in made
        ],
    )


def _turn(turn: Turn, people: Roster) -> TurnLine:
    return TurnLine(
        who=people.name(turn.member) if turn.member else "",
        starts=turn.starts,
        ends=turn.ends,
        now=turn.starts <= people.now < turn.ends,
        override=turn.override,
        instead_of=[people.name(each) for each in turn.instead_of],
        begun=turn.begun,
    )
