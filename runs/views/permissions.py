"""The page on which an admin restricts an agent, and says who may see, operate and review it then."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from runs import switches
from runs.switches import Permitted
from tenants import agents, ids, pages, wording
from tenants.requests import TenantRequest
from tenants.scope import scope

HERE = "settings/agents/"
LABELS = {
    "view_runs": gettext_lazy("See its runs"),
    "operate_runs": gettext_lazy("Operate its runs"),
    "review": gettext_lazy("Answer its requests"),
}


@dataclass(frozen=True)
class Box:
    """One permission of one member."""

    value: str
    label: str
    checked: bool


@dataclass(frozen=True)
class PersonLine:
    """One member; `id` names its boxes."""

    id: str
    name: str
    roles: str
    boxes: Sequence[Box]


@dataclass(frozen=True)
class AgentPeople:
    """An agent, whether it is restricted, and who is permitted what."""

    name: str
    restricted: bool
    url: str
    back: str
    people: Sequence[PersonLine]
    columns: Sequence[str]


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def people(request: TenantRequest, name: str, **_names: object) -> HttpResponse:
    """Who may what of a restricted agent; read, or saved whole."""
    if request.method == "POST":
        with scope(request.tenant.pk):
            _save(request, name)
        return pages.done(request, f"{HERE}{name}/people/", _("Saved: %(name)s.") % {"name": name})
    view = _view(request, name)
    return pages.page(request, "settings/agent.html", {"view": view}, section="tools", here=HERE)


def _save(request: TenantRequest, name: str) -> None:
    """The switch if it changed, and the permissions of those who were on the page and changed."""
    restricted = request.POST.get("restricted") == "1"
    before = switches.everyone(name)
    found = agents.access(name)
    if found and found.restricted != restricted:
        switches.switch_agent(name, restricted=restricted, actor=request.actor, channel="page")
    shown = {key for each in request.POST.getlist("member") if (key := ids.parse(each))}
    for each in before:
        if each.member in shown:
            wanted = request.POST.getlist(f"may.{each.member}")
            switches.permit(name, each.member, permissions=wanted, actor=request.actor, channel="page")


def _view(request: TenantRequest, name: str) -> AgentPeople:
    with pages.read(request):
        everyone, found = switches.everyone(name), agents.access(name)
    base = pages.base(request)
    return AgentPeople(
        name=name,
        restricted=bool(found and found.restricted),
        url=f"{base}{HERE}{name}/people/",
        back=f"{base}{HERE}",
        people=[_line(each) for each in everyone],
        columns=[str(label) for label in LABELS.values()],
    )


def _line(each: Permitted) -> PersonLine:
    boxes = [Box(value, str(label), value in each.permissions) for value, label in LABELS.items()]
    roles = wording.listed(str(pages.ROLES[role]) for role in each.roles if role in pages.ROLES)
    return PersonLine(str(each.member), each.name, roles, boxes)
