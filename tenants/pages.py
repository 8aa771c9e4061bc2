"""What the settings pages share: only an admin opens them, their menu, and how a refusal becomes errors of a form."""

from dataclasses import dataclass
from typing import cast

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tenants.refusals import Refusal, forbidden
from tenants.requests import TenantRequest

TABS = {
    "tools": (
        ("rules", "settings/policies/", gettext_lazy("Rules")),
        ("escalation", "settings/escalation/", gettext_lazy("Escalation")),
        ("agents", "settings/agents/", gettext_lazy("Agents and tools")),
    ),
    "people": (
        ("members", "settings/people/", gettext_lazy("Members")),
        ("groups", "settings/groups/", gettext_lazy("Groups")),
    ),
}


@dataclass(frozen=True)
class Tab:
    """One entry of the small menu above a settings page."""

    label: str
    url: str
    current: bool
    count: int | None = None


def tabs(request: TenantRequest, section: str, current: str) -> list[Tab]:
    """The menu of a section, with the page one is on."""
    base = f"/t/{request.tenant.slug}/"
    return [Tab(str(label), base + path, key == current) for key, path, label in TABS[section]]


def admin_request(request: HttpRequest) -> TenantRequest:
    """The same request, known to be an admin's. Raises Refusal 403."""
    mine = cast("TenantRequest", request)
    if not mine.member.has("admin"):
        raise forbidden(_("Only an admin opens the settings."), code="role")
    return mine


def add_errors(form: forms.Form, refusal: Refusal) -> None:
    """Put what was refused beside the fields it is about, the rest above the form. Raises it again where it is none."""
    if refusal.status not in (409, 422):
        raise refusal
    told = refusal.errors or [{"field": "", "message": str(refusal.detail)}]
    for error in told:
        field = error["field"].split(".")[0]
        form.add_error(field if field in form.fields else None, error["message"])
