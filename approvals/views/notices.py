"""One's own notices: by which ways, in which language, when; one's own chat channels; a test of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from approvals import channels, wishes
from approvals.channel_forms import SERVICES, ChatForm, NoticesForm
from approvals.models import Delivery
from approvals.notifications import outbox, ways
from approvals.pages import reasons
from tenants import audit, pages
from tenants.models import Member
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

HERE = "settings/notices/"


@dataclass(frozen=True)
class OwnLine:
    """One of the reader's chat channels."""

    name: str
    service: str
    enabled: bool
    error: str
    url: str


@dataclass(frozen=True)
class NoticesView:
    """The page of one's own notices."""

    url: str
    address: str
    mail_is_on: bool
    last_test: Delivery | None
    why: str
    own: Sequence[OwnLine]


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only(*pages.EVERYBODY)
def notices(request: TenantRequest, **_names: object) -> HttpResponse:
    """Read one's wishes, or change them."""
    if request.method != "POST":
        return _page(request)
    form = NoticesForm(request.POST)
    if not form.is_valid():
        return _page(request, form=form, status=422)
    try:
        with scope(request.tenant.pk):
            wishes.change(request.member, actor=request.actor, changes=form.changes(), channel="page")
    except Refusal as refusal:
        refusal.errors = [{**each, "field": "quiet_until"} for each in refusal.errors if each["field"] == "quiet"]
        return _page(request, form=form, status=pages.refused(request, refusal, form))
    with translation.override(form.changes().get("locale") or request.tenant.locale):  # The page is read in it.
        return pages.done(request, HERE, _("Saved."))


@require_POST
@pages.only(*pages.EVERYBODY)
def try_mail(request: TenantRequest, **_names: object) -> HttpResponse:
    """Send a test to one's own address."""
    with scope(request.tenant.pk):
        outbox.try_mail(request.member)
        target = f"member:{request.member.pk}"
        audit.record("notices.tested", actor=request.actor, target=target, detail={}, channel="page")
    return pages.done(request, HERE, _("A test is on its way. Its state stands below."))


@require_POST
@pages.only(*pages.EVERYBODY)
def add(request: TenantRequest, **_names: object) -> HttpResponse:
    """A chat channel of one's own."""
    form = ChatForm(request.POST)
    if not form.is_valid():
        return _page(request, chat=form, status=422)
    sent = form.cleaned_data
    try:
        with scope(request.tenant.pk):
            values = {name: sent[name] for name in ("kind", "name", "url")}
            channels.add_chat(actor=request.actor, member=request.member, channel="page", **values)
    except Refusal as refusal:
        return _page(request, chat=form, status=pages.refused(request, refusal, form))
    return pages.done(request, HERE, _("Made. You are told by it as well from now on."))


@require_POST
@pages.only(*pages.EVERYBODY)
def attempt(request: TenantRequest, channel_id: UUID, **_names: object) -> HttpResponse:
    """Try one of one's own channels."""
    with scope(request.tenant.pk):
        channels.trial(channels.own_one(request.member, channel_id), actor=request.actor, channel="page")
    return pages.done(request, HERE, _("A test is on its way. Its state stands below."))


@require_POST
@pages.only(*pages.EVERYBODY)
def remove(request: TenantRequest, channel_id: UUID, **_names: object) -> HttpResponse:
    """End one of one's own channels."""
    with scope(request.tenant.pk):
        channels.remove(channels.own_one(request.member, channel_id), actor=request.actor, channel="page")
    return pages.done(request, HERE, _("Removed. Nothing is sent by it any more."))


def _page(
    request: TenantRequest, *, form: NoticesForm | None = None, chat: ChatForm | None = None, status: int = 200
) -> HttpResponse:
    with pages.read(request):
        shown = form or NoticesForm(initial=_initial(request.member))
        test = _last_test(request.member)
        view = NoticesView(
            url=pages.base(request) + HERE,
            address=request.member.email,
            mail_is_on=ways.mail_is_on(),
            last_test=test,
            why=reasons.said(test.error) if test else "",
            own=[_own(row, pages.base(request)) for row in channels.own(request.member)],
        )
    context = {"view": view, "form": shown, "chat": chat or ChatForm()}
    return pages.page(request, "settings/notices.html", context, section="settings", here=HERE, status=status)


def _initial(member: Member) -> dict[str, Any]:
    found = wishes.read(member)
    quiet = found["quiet"] or {"from": None, "until": None}
    chosen = {way: [kind for kind, by in found["kinds"].items() if by[way]] for way in wishes.TRANSPORTS}
    spoken = {name: found[name] or "" for name in ("locale", "timezone")}
    return {**spoken, **chosen, "digest": found["digest"], "quiet_from": quiet["from"], "quiet_until": quiet["until"]}


def _last_test(member: Member) -> Delivery | None:
    """The last test that was sent to the member's address or by a channel of theirs."""
    mine = Delivery.objects.filter(kind=outbox.TEST, member=member)
    own = Delivery.objects.filter(kind=outbox.TEST, channel__member=member)
    return (mine | own).select_related("channel").order_by("-created_at", "-id").first()


def _own(row: Any, base: str) -> OwnLine:
    error = reasons.said(row.last_error) if row.failures else ""
    return OwnLine(row.name, str(SERVICES.get(row.kind, row.kind)), row.enabled, error, f"{base}{HERE}{row.pk}/")
