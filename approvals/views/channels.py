"""The pages of webhooks and of chat channels: how each fares, tried, switched, ended; a secret is shown once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from approvals import channel_people, channels
from approvals.channel_forms import ROOM_WORDS, SERVICES, RoomForm, WebhookForm
from approvals.channels import Made
from approvals.event_words import EVENT_WORDS
from approvals.models import WEBHOOK, Channel, ChannelPerson
from approvals.pages import reasons
from tenants import pages
from tenants.models import Member
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

WEBHOOKS, CHATS = "settings/webhooks/", "settings/channels/"
MOST_PEOPLE = 200


@dataclass(frozen=True)
class PersonLine:
    """A person of the chat service, and who they are here."""

    external_id: str
    member: str
    url: str


@dataclass(frozen=True)
class HearsLine:
    """A kind of notice, and whether the room hears it."""

    kind: str
    words: str
    chosen: bool


@dataclass(frozen=True)
class ChannelCard:
    """One webhook or chat channel, and how it fares."""

    name: str
    service: str
    target: str
    url: str
    deliveries: str
    events: Sequence[tuple[str, str]]
    enabled: bool
    off_because: str
    failures: int
    failing_since: datetime | None
    last_error: str
    people: Sequence[PersonLine] = ()
    door: str = ""
    hears: Sequence[HearsLine] = ()
    refused: int = 0
    refused_since: datetime | None = None


@dataclass(frozen=True)
class ChannelsView:
    """All of one sort, and the secret that is shown this once."""

    title: str
    webhooks: bool
    url: str
    cards: Sequence[ChannelCard]
    members: Sequence[tuple[str, str]]
    secret: str = ""
    secret_of: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def every(request: TenantRequest, *, webhook: bool, **_names: object) -> HttpResponse:
    """The webhooks or chat channels, and a new one."""
    if request.method != "POST":
        return _page(request, webhook=webhook)
    form = WebhookForm(request.POST) if webhook else RoomForm(request.POST)
    if not form.is_valid():
        return _page(request, webhook=webhook, form=form, status=422)
    try:
        with scope(request.tenant.pk):
            made = _add(request, form)
    except Refusal as refusal:
        for each in refusal.errors:
            each["field"] = "events.approval" if each["field"] == "events" else each["field"]
        return _page(request, webhook=webhook, form=form, status=pages.refused(request, refusal, form))
    return _page(request, webhook=webhook, made=made)


@require_POST
@pages.only("admin")
def attempt(request: TenantRequest, channel_id: UUID, *, webhook: bool, **_names: object) -> HttpResponse:
    """Send a test."""
    with scope(request.tenant.pk):
        row = channels.found(channel_id, webhook=webhook)
        channels.trial(row, actor=request.actor, channel="page")
    words = _("A test is on its way to %(name)s. Its state stands under Deliveries.") % {"name": row.name}
    return pages.done(request, f"settings/deliveries/?channel={row.pk}", words)


@require_POST
@pages.only("admin")
def secret(request: TenantRequest, channel_id: UUID, *, webhook: bool, **_names: object) -> HttpResponse:
    """Change the secret; this answer alone shows it."""
    with scope(request.tenant.pk):
        made = channels.rotate(channels.found(channel_id, webhook=webhook), actor=request.actor, channel="page")
    return _page(request, webhook=webhook, made=made)


@require_POST
@pages.only("admin")
def switch(request: TenantRequest, channel_id: UUID, *, webhook: bool, **_names: object) -> HttpResponse:
    """Switch it on or off."""
    on = request.POST.get("enabled") == "1"
    with scope(request.tenant.pk):
        row = channels.found(channel_id, webhook=webhook)
        channels.change(row, actor=request.actor, changes={"enabled": on}, channel="page")
    words = (
        _("%(name)s is switched on.") if on else _("%(name)s is switched off. What comes meanwhile is not sent later.")
    )
    return pages.done(request, _here(webhook=webhook), words % {"name": row.name})


@require_POST
@pages.only("admin")
def hear(request: TenantRequest, channel_id: UUID, **_names: object) -> HttpResponse:
    """Say what a chat channel hears."""
    kinds = request.POST.getlist("kinds")
    with scope(request.tenant.pk):
        row = channels.found(channel_id, webhook=False)
        channels.change(row, actor=request.actor, changes={"kinds": kinds}, channel="page")
    return pages.done(request, CHATS, _("Saved. %(name)s hears this from now on.") % {"name": row.name})


@require_POST
@pages.only("admin")
def remove(request: TenantRequest, channel_id: UUID, *, webhook: bool, **_names: object) -> HttpResponse:
    """End it."""
    with scope(request.tenant.pk):
        row = channels.found(channel_id, webhook=webhook)
        channels.remove(row, actor=request.actor, channel="page")
    return pages.done(request, _here(webhook=webhook), _("%(name)s is removed.") % {"name": row.name})


@require_POST
@pages.only("admin")
def bind(request: TenantRequest, channel_id: UUID, **_names: object) -> HttpResponse:
    """Say who a chat person is here."""
    sent = {name: request.POST.get(name, "") for name in ("member", "external_id")}
    with scope(request.tenant.pk):
        row = channels.found(channel_id, webhook=False)
        channel_people.bind(row, actor=request.actor, channel="page", **sent)
    return pages.done(request, CHATS, _("Saved. Callbacks that name them act as this member."))


@require_POST
@pages.only("admin")
def release(request: TenantRequest, channel_id: UUID, person_id: UUID, **_names: object) -> HttpResponse:
    """Let a chat person be nobody here."""
    with scope(request.tenant.pk):
        row = channels.found(channel_id, webhook=False)
        channel_people.release(row, person_id, actor=request.actor, channel="page")
    return pages.done(request, CHATS, _("Taken out. Callbacks that name them are refused."))


def _here(*, webhook: bool) -> str:
    return WEBHOOKS if webhook else CHATS


def _add(request: TenantRequest, form: forms.Form) -> Made:
    sent = form.cleaned_data
    if isinstance(form, WebhookForm):
        wanted = form.events()
        return channels.add_webhook(
            actor=request.actor, url=sent["url"], events=wanted, name=sent["name"], channel="page"
        )
    about = {name: sent[name] for name in ("kind", "name", "url", "kinds")}
    return channels.add_chat(actor=request.actor, channel="page", **about)


def _page(
    request: TenantRequest,
    *,
    webhook: bool,
    form: forms.Form | None = None,
    made: Made | None = None,
    status: int = 200,
) -> HttpResponse:
    base = pages.base(request)
    with pages.read(request):
        rows = channels.every(webhooks_only=webhook)
        people = _people(rows, base) if not webhook else {}
        members = _members() if rows and not webhook else []
    view = ChannelsView(
        title=_("Webhooks") if webhook else _("Chat channels"),
        webhooks=webhook,
        url=base + _here(webhook=webhook),
        cards=[_card(row, base, people.get(row.pk, []), request.tenant.slug) for row in rows],
        members=members,
        secret=made.secret if made else "",
        secret_of=made.channel.name if made else "",
    )
    context = {"view": view, "form": form or (WebhookForm() if webhook else RoomForm())}
    here = _here(webhook=webhook)
    return pages.page(request, "settings/channels.html", context, section="settings", here=here, status=status)


def _card(row: Channel, base: str, people: Sequence[PersonLine], slug: str) -> ChannelCard:
    webhook = row.kind == WEBHOOK
    return ChannelCard(
        name=row.name,
        service="" if webhook else str(SERVICES.get(row.kind, row.kind)),
        target=row.shown_url if webhook else "",
        url=f"{base}{_here(webhook=webhook)}{row.pk}/",
        deliveries=f"{base}settings/deliveries/?channel={row.pk}",
        events=[(str(EVENT_WORDS.get(name, "")), name) for name in row.events],
        enabled=row.enabled,
        off_because=_because(row),
        failures=row.failures,
        failing_since=row.failing_since,
        last_error=reasons.said(row.last_error),
        people=people,
        door="" if webhook else f"/callbacks/{slug}/{row.name}",
        hears=() if webhook else _hears(row),
        refused=row.refused,
        refused_since=row.refused_since,
    )


def _hears(row: Channel) -> list[HearsLine]:
    return [HearsLine(kind, str(words), row.kinds is None or kind in row.kinds) for kind, words in ROOM_WORDS.items()]


def _because(row: Channel) -> str:
    return "" if row.off_because in ("", channels.BY_HAND) else reasons.said(row.off_because)


def _people(rows: Sequence[Channel], base: str) -> dict[UUID, list[PersonLine]]:
    found: dict[UUID, list[PersonLine]] = {}
    bound = ChannelPerson.objects.filter(channel__in=[row.pk for row in rows]).select_related("member__person")
    for each in bound.order_by("external_id")[:MOST_PEOPLE]:
        url = f"{base}{CHATS}{each.channel_id}/people/{each.pk}/release/"
        found.setdefault(each.channel_id, []).append(PersonLine(each.external_id, each.member.name, url))
    return found


def _members() -> list[tuple[str, str]]:
    rows = Member.objects.filter(active=True).select_related("person").order_by("person__name", "id")
    return [(str(row.pk), row.name) for row in rows[:MOST_PEOPLE]]
