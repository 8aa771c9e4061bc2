"""The pages of escalation policies: who is asked as well, after how long."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from approvals import escalation_forms, escalation_policies, rules
from approvals.escalation_forms import EscalationForm
from approvals.models import EscalationPolicy
from approvals.rosters import Roster, roster
from tenants import pages
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

HERE = "settings/escalation/"
MOST = 100


@dataclass(frozen=True)
class LevelLine:
    """Who is asked after how many seconds."""

    number: int
    after: int
    who: Sequence[str]


@dataclass(frozen=True)
class PolicyCard:
    """One policy, and the rules that name it."""

    name: str
    url: str
    repeats: int
    rules: Sequence[str]
    levels: Sequence[LevelLine]
    calendar: str = ""


@dataclass(frozen=True)
class EscalationView:
    """All policies, and the one in the form."""

    url: str
    policies: Sequence[PolicyCard]
    form_url: str
    form_title: str
    new_url: str = ""
    archive_url: str = ""
    used: bool = False


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def every(request: TenantRequest, **_names: object) -> HttpResponse:
    """The policies, and a new one."""
    with pages.read(request):
        if request.method != "POST":
            return _page(request, EscalationForm(initial={"repeats": 0}))
        form = EscalationForm(request.POST)
        if not form.is_valid():
            return _page(request, form, status=422)
    try:
        with scope(request.tenant.pk):
            escalation_policies.create(actor=request.actor, channel="page", **form.body())
    except Refusal as refusal:
        return _refused(request, refusal, form)
    return pages.done(request, HERE, _("The escalation policy is made. Rules can name it now."))


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def one(request: TenantRequest, policy_id: UUID, **_names: object) -> HttpResponse:
    """One policy: read, changed."""
    with pages.read(request):
        row = escalation_policies.found(policy_id)
        if request.method != "POST":
            shown = escalation_forms.initial(row)
            return _page(request, EscalationForm(initial=shown, levels=len(row.levels)), row)
        form = EscalationForm(request.POST)
        if not form.is_valid():
            return _page(request, form, row, status=422)
    try:
        with scope(request.tenant.pk):
            escalation_policies.change(policy_id, actor=request.actor, changes=form.body(), channel="page")
    except Refusal as refusal:
        return _refused(request, refusal, form, row)
    return pages.done(request, HERE, _("Saved. Requests that wait follow the change."))


@require_POST
@pages.only("admin")
def archive(request: TenantRequest, policy_id: UUID, **_names: object) -> HttpResponse:
    """Let no new rule name it."""
    with scope(request.tenant.pk):
        escalation_policies.archive(policy_id, actor=request.actor, channel="page")
    return pages.done(request, HERE, _("No new rule can name it. Requests that began with it keep its levels."))


def _refused(
    request: TenantRequest, refusal: Refusal, form: EscalationForm, row: EscalationPolicy | None = None
) -> HttpResponse:
    if refusal.status == 404:
        raise refusal
    request.refusal = refusal
    form.refuse(refusal.errors or [{"field": "", "message": refusal.detail}])
    return _page(request, form, row, status=refusal.status)


def _page(
    request: TenantRequest, form: EscalationForm, row: EscalationPolicy | None = None, *, status: int = 200
) -> HttpResponse:
    url = pages.base(request) + HERE
    with pages.read(request):
        names, users = roster(), _users()
        found = EscalationPolicy.objects.filter(archived_at__isnull=True).select_related("calendar")
        found = found.order_by("name", "id")[:MOST]
        cards = [_card(each, names, users.get(str(each.pk), []), url) for each in found]
        view = EscalationView(
            url=url,
            policies=cards,
            form_url=f"{url}{row.pk}/" if row else url,
            form_title=_("Change “%(name)s”") % {"name": row.name} if row else _("New escalation policy"),
            new_url=url if row else "",
            archive_url=f"{url}{row.pk}/archive/" if row else "",
            used=bool(row and users.get(str(row.pk))),
        )
    context = {"view": view, "form": form}
    return pages.page(request, "settings/escalations.html", context, section="tools", here=HERE, status=status)


def _users() -> dict[str, list[str]]:
    """The live rules that name each policy."""
    found: dict[str, list[str]] = {}
    for body in rules.live_bodies():
        if body["escalation_policy"]:
            found.setdefault(str(body["escalation_policy"]), []).append(body["name"])
    return found


def _card(row: EscalationPolicy, names: Roster, users: Sequence[str], url: str) -> PolicyCard:
    levels = [
        LevelLine(number, level["after"], _who(level, names)) for number, level in enumerate(row.levels, start=1)
    ]  # fmt: skip
    calendar = (row.calendar.name if row.calendar else _("the default calendar")) if row.working_time else ""
    return PolicyCard(row.name, f"{url}{row.pk}/", row.repeats, users, levels, calendar)


def _who(level: dict[str, Any], names: Roster) -> list[str]:
    groups = [names.groups.get(str(each), "–") for each in level.get("groups") or ()]
    known = {str(member.id): member.name for member in names.people.values()}
    members = [known.get(str(each), "–") for each in level.get("members") or ()]
    turns = [names.rotations[each].rota.name if each in names.rotations else "–" for each in level.get("rotations", ())]
    return [*groups, *members, *(_("On call: %(name)s") % {"name": name} for name in turns)]
