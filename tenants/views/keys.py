"""The keys of the tenant: made, told once, ended."""

from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_http_methods, require_POST

from tenants import keys, pages, wording
from tenants.forms import NewKey
from tenants.models import ApiKey
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope
from tenants.views.organisation import FormView

HERE = "settings/keys/"
SHOWN = 200


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def every(request: TenantRequest, **_names: object) -> HttpResponse:
    """The keys, or a new one, whose text this answer alone shows."""
    if request.method != "POST":
        return _page(request, NewKey())
    form = NewKey(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    sent = form.cleaned_data
    try:
        with scope(request.tenant.pk):
            _key, text = keys.create(
                request.member,
                actor=request.actor,
                scopes=sent["scopes"],
                name=sent["name"],
                service=sent["service"],
                channel="page",
            )
    except Refusal as refusal:
        return _page(request, form, status=pages.refused(request, refusal, form))
    return _page(request, NewKey(), secret=text)


@require_POST
@pages.only("admin")
def revoke(request: TenantRequest, key_id: UUID, **_names: object) -> HttpResponse:
    """End a key at once."""
    with scope(request.tenant.pk):
        ended = keys.revoke(key_id, actor=request.actor, channel="page")
    return pages.done(request, HERE, _("The key “%(name)s” opens nothing any more.") % {"name": ended.name})


def _page(request: TenantRequest, form: NewKey, *, status: int = 200, secret: str = "") -> HttpResponse:
    with pages.read(request):
        found = ApiKey.objects.select_related("owner__person").order_by("-revoked_at", "-created_at", "-id")
        listed = list(found[:SHOWN])
        acted = keys.last_acts(listed)
        rows = tuple(_row(key, acted, pages.base(request)) for key in listed)
    view = FormView(
        title=pgettext("API", "Keys"),
        url=pages.base(request) + HERE,
        button=_("Make a key"),
        words=(
            _("A key opens the API. It acts as its owner and within its scopes; a service key acts for itself."),
            _(
                "The letters behind “…” are the end of a key's public part. "
                "They stand beside its name in the audit too."
            ),
            _("The last entry is what the audit last holds of a key, refusals too. A key that only reads leaves none."),
        ),
        rows=rows,
        rows_title=_("Keys there are"),
        secret=secret,
        secret_words=_("This is the key. It is shown this once and kept nowhere: copy it now."),
    )
    context = {"view": view, "form": form}
    return pages.page(request, "settings/form.html", context, section="settings", here=HERE, status=status)


def _row(key: ApiKey, acted: Mapping[UUID, datetime], base: str) -> pages.Row:
    made = localtime(key.created_at)
    words = {
        "owner": key.owner.name,
        "scopes": wording.listed(key.scopes),
        "day": wording.day(made, year=made.year != localtime().year),
    }
    badge = _("ended") if key.revoked_at else _("service") if key.service else ""
    return pages.Row(
        name=key.name,
        mark=keys.mark(key.pk),
        text=_("%(owner)s, since %(day)s. May: %(scopes)s") % words,
        last=acted.get(key.pk),
        last_url=f"{base}audit/?{urlencode({'who': keys.mark(key.pk)})}",
        badge=badge,
        url="" if key.revoked_at else f"{base}{HERE}{key.pk}/revoke/",
        button=_("End it"),
    )
