"""The tenant's own settings, as one form."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from tenants import pages, preferences
from tenants.forms import Organisation
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

HERE = "settings/organisation/"


@dataclass(frozen=True)
class FormView:
    """A page that is one form."""

    title: str
    url: str
    button: str
    words: tuple[str, ...] = ()
    rows: tuple[pages.Row, ...] = ()
    rows_title: str = ""
    secret: str = ""
    secret_words: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def organisation(request: TenantRequest, **_names: object) -> HttpResponse:
    """Read the settings, or settle them anew."""
    if request.method != "POST":
        return _page(request, Organisation(initial=_initial()))
    form = Organisation(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        _save(request, form.cleaned_data)
    except Refusal as refusal:
        return _page(request, form, status=pages.refused(request, refusal, form))
    with translation.override(request.member.locale or form.cleaned_data["locale"]):  # The page is read in it.
        return pages.done(request, HERE, _("Saved."))


def _save(request: TenantRequest, sent: Mapping[str, Any]) -> None:
    with scope(request.tenant.pk):
        before = _initial()
        wanted = {name: value for name, value in sent.items() if name != "email" and value != before[name]}
        if sent["email"] != before["email"]:
            wanted["notifications"] = {**preferences.read()["notifications"], "email": sent["email"]}
        if wanted:
            preferences.change(actor=request.actor, channel="page", **wanted)


def _initial() -> dict[str, Any]:
    found = preferences.read()
    return {**found, "email": (found["notifications"] or {}).get("email") is not False}


def _page(request: TenantRequest, form: Organisation, *, status: int = 200) -> HttpResponse:
    view = FormView(title=_("Organisation"), url=pages.base(request) + HERE, button=_("Save"))
    context = {"view": view, "form": form}
    return pages.page(request, "settings/form.html", context, section="settings", here=HERE, status=status)
