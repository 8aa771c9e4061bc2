"""Escalation policies: who is asked as well, after how long."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from approvals import escalation_policies
from approvals.models import EscalationPolicy, PolicyVersion
from approvals.rosters import Roster, roster
from tenants.pages import add_errors, admin_request, tabs
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

LEVELS = 3
"""How many levels the form has; the API takes more, and such a policy keeps those that the form does not show."""
MINUTE = 60


@dataclass(frozen=True)
class LevelLine:
    """One level in words."""

    number: int
    after: int
    who: list[str]


@dataclass(frozen=True)
class PolicyCard:
    """One policy with its levels and the rules that use it."""

    url: str
    name: str
    repeats: int
    levels: list[LevelLine]
    rules: list[str]


class EscalationForm(forms.Form):
    """A policy of at most three levels."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    repeats = forms.IntegerField(
        label=gettext_lazy("How often it is repeated"), min_value=0, max_value=10, initial=0, required=False
    )

    def __init__(self, *args: Any, names: Roster, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        groups = sorted(((f"group:{key}", name) for key, name in names.groups.items()), key=lambda each: each[1])
        people = [(f"member:{each.id}", each.name) for each in names.people.values() if "reviewer" in each.roles]
        for number in range(1, LEVELS + 1):
            self.fields[f"after_{number}"] = forms.IntegerField(
                label=_("Level %(n)s: minutes after the request was asked") % {"n": number},
                min_value=0,
                max_value=366 * 24 * 60,
                required=False,
            )
            self.fields[f"who_{number}"] = forms.MultipleChoiceField(
                label=_("Level %(n)s: who is asked as well") % {"n": number},
                choices=[*groups, *sorted(people, key=lambda each: each[1])],
                widget=forms.CheckboxSelectMultiple,
                required=False,
            )

    def levels(self) -> list[dict[str, Any]]:
        """The levels that name somebody or a time, as the policy takes them."""
        said = self.cleaned_data
        found = []
        for number in range(1, LEVELS + 1):
            after, who = said[f"after_{number}"], said[f"who_{number}"]
            if after is None and not who:
                continue
            named = {kind: [key for place, key in map(_split, who) if place == kind] for kind in ("group", "member")}
            seconds = None if after is None else after * MINUTE
            found.append({"after": seconds, "groups": named["group"], "members": named["member"]})
        return found


@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """The policies, and the form that makes one."""
    mine = admin_request(request)
    if request.method != "POST":
        return _page(mine, None, EscalationForm(names=roster()))
    with scope(mine.tenant.pk):
        return _save(mine, None, EscalationForm(request.POST, names=roster()))


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str, policy_id: UUID) -> HttpResponse:  # noqa: ARG001
    """One policy, to be changed."""
    mine = admin_request(request)
    if request.method != "POST":
        row = escalation_policies.found(policy_id)
        return _page(mine, row, EscalationForm(names=roster(), initial=_initial(row)))
    with scope(mine.tenant.pk):
        row = escalation_policies.found(policy_id)
        return _save(mine, row, EscalationForm(request.POST, names=roster()))


def _save(request: TenantRequest, row: EscalationPolicy | None, form: EscalationForm) -> HttpResponse:
    if form.is_valid():
        levels = [*form.levels(), *(row.levels[LEVELS:] if row else [])]
        body = {"name": form.cleaned_data["name"], "levels": levels, "repeats": form.cleaned_data["repeats"] or 0}
        try:
            if row is None:
                escalation_policies.create(actor=request.actor, channel="page", **body)
            else:
                escalation_policies.change(row.pk, actor=request.actor, changes=body, channel="page")
        except Refusal as refusal:
            add_errors(form, refusal)
    if form.errors:
        return _page(request, row, form, status=422)
    return HttpResponseRedirect(_base(request))


def _page(
    request: TenantRequest, row: EscalationPolicy | None, form: EscalationForm, *, status: int = 200
) -> HttpResponse:
    names, base = roster(), _base(request)
    view = {
        "url": base,
        "form_url": f"{base}{row.pk}/" if row else base,
        "form_title": row.name if row else _("New escalation"),
        "policies": [_card(each, names, base) for each in _rows()],
    }
    context = {"view": view, "form": form, "section": "tools", "tabs": tabs(request, "tools", "escalation")}
    return render(request, "settings/escalations.html", context, status=status)


def _rows() -> list[EscalationPolicy]:
    return list(EscalationPolicy.objects.filter(archived_at__isnull=True).order_by("name", "id"))


def _card(row: EscalationPolicy, names: Roster, base: str) -> PolicyCard:
    live = PolicyVersion.objects.filter(rule__archived_at__isnull=True, body__escalation_policy=str(row.pk))
    using = sorted(
        {version.rule.name for version in live.select_related("rule") if version.number == version.rule.live}
    )
    return PolicyCard(
        url=f"{base}{row.pk}/",
        name=row.name,
        repeats=row.repeats,
        levels=[LevelLine(i, each["after"], _who(each, names)) for i, each in enumerate(row.levels, 1)],
        rules=using,
    )


def _who(level: Mapping[str, Any], names: Roster) -> list[str]:
    members = [next((one.name for one in names.people.values() if str(one.id) == key), "–") for key in level["members"]]
    return [*(names.groups.get(key, "–") for key in level["groups"]), *members]


def _initial(row: EscalationPolicy) -> dict[str, Any]:
    found: dict[str, Any] = {"name": row.name, "repeats": row.repeats}
    for number, level in enumerate(row.levels[:LEVELS], 1):
        found[f"after_{number}"] = level["after"] // MINUTE
        groups = [f"group:{key}" for key in level["groups"]]
        found[f"who_{number}"] = [*groups, *(f"member:{key}" for key in level["members"])]
    return found


def _split(choice: str) -> tuple[str, str]:
    kind, _colon, key = choice.partition(":")
    return kind, key


def _base(request: TenantRequest) -> str:
    return f"/t/{request.tenant.slug}/settings/escalation/"
