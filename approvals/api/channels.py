"""The API of webhooks and chat channels, of what was sent by them, and of the people of a chat service."""

from typing import Any
from uuid import UUID

from ninja import Router, Schema, Status
from pydantic import ConfigDict

from approvals import channel_people, channels, deliveries
from approvals.api.channel_shapes import delivery, one, person
from approvals.deliveries import Filters
from approvals.models import Channel
from tenants import paging
from tenants.bearer import demand
from tenants.requests import KeyRequest
from tenants.scope import scope

router = Router(tags=["channels"])
Shape = dict[str, Any]


class WebhookBody(Schema):
    """Where to, and which events; `name` is for people."""

    model_config = ConfigDict(extra="forbid")

    url: Any = None
    events: Any = None
    name: str = ""


class ChannelBody(Schema):
    """A channel of a chat service; `url` as apprise writes it, never told again."""

    model_config = ConfigDict(extra="forbid")

    kind: Any = None
    name: Any = None
    url: Any = None


class RoomBody(ChannelBody):
    """One that many read; `kinds` of notice it hears, such as `asked` and `closing_soon`, all where it is left out."""

    kinds: list[str] | None = None


class WebhookChange(Schema):
    model_config = ConfigDict(extra="forbid")

    url: str | None = None
    events: list[str] | None = None
    enabled: bool | None = None


class RoomChange(Schema):
    model_config = ConfigDict(extra="forbid")

    url: str | None = None
    kinds: list[str] | None = None
    enabled: bool | None = None


class PersonBody(Schema):
    """A member, by id or address, and the id that the service gives them."""

    model_config = ConfigDict(extra="forbid")

    member: str
    external_id: str


@router.get("/webhooks", summary="List the webhooks")
def list_webhooks(request: KeyRequest) -> Shape:
    """All of them by name, with how they fare."""
    demand(request, "settings:read", "admin")
    return {"items": [one(row) for row in channels.every(webhooks_only=True)], "next": None}


@router.post("/webhooks", response={201: Any}, summary="Make a webhook")
def create_webhook(request: KeyRequest, body: WebhookBody) -> Status[Any]:
    """It is told these events from now on. The answer holds the secret, this once."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        made = channels.add_webhook(actor=bearer.actor, url=body.url, events=body.events, name=body.name, channel="api")
        return Status(201, one(made.channel, secret=made.secret))


@router.get("/webhooks/{uuid:webhook_id}", summary="Read a webhook")
def read_webhook(request: KeyRequest, webhook_id: UUID) -> Shape:
    """One webhook, with how it fares."""
    demand(request, "settings:read", "admin")
    return one(channels.found(webhook_id, webhook=True, read_only=True))


@router.patch("/webhooks/{uuid:webhook_id}", summary="Change a webhook")
def change_webhook(request: KeyRequest, webhook_id: UUID, body: WebhookChange) -> Shape:
    """Another URL, other events, on or off. What came while it was off is not sent later."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        return one(_changed(_webhook(webhook_id), bearer, body))


@router.delete("/webhooks/{uuid:webhook_id}", response={204: None}, summary="Remove a webhook")
def remove_webhook(request: KeyRequest, webhook_id: UUID) -> Status[None]:
    """Its deliveries stay to be read."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        channels.remove(_webhook(webhook_id), actor=bearer.actor, channel="api")
    return Status(204, None)


@router.post("/webhooks/{uuid:webhook_id}/secret", response={201: Any}, summary="Change a webhook's secret")
def rotate_webhook(request: KeyRequest, webhook_id: UUID) -> Status[Any]:
    """The former secret signs beside the new one for 24 hours."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        made = channels.rotate(_webhook(webhook_id), actor=bearer.actor, channel="api")
        return Status(201, one(made.channel, secret=made.secret))


@router.post("/webhooks/{uuid:webhook_id}/test", response={201: Any}, summary="Try a webhook")
def try_webhook(request: KeyRequest, webhook_id: UUID) -> Status[Any]:
    """Sends `webhook.test`, once; the delivery says what came of it."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        return Status(201, delivery(channels.trial(_webhook(webhook_id), actor=bearer.actor, channel="api")))


@router.get("/channels", summary="List the chat channels")
def list_channels(request: KeyRequest) -> Shape:
    """All of them by name, with how they fare."""
    demand(request, "settings:read", "admin")
    return {"items": [one(row) for row in channels.every(webhooks_only=False)], "next": None}


@router.post("/channels", response={201: Any}, summary="Make a chat channel")
def create_channel(request: KeyRequest, body: RoomBody) -> Status[Any]:
    """It hears what waits from now on. The answer holds the secret of its callbacks, this once."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        made = channels.add_chat(actor=bearer.actor, channel="api", **body.model_dump())
        return Status(201, one(made.channel, secret=made.secret))


@router.get("/channels/{name}", summary="Read a chat channel")
def read_channel(request: KeyRequest, name: str) -> Shape:
    """One chat channel, with who its people are here."""
    demand(request, "settings:read", "admin")
    row = channels.named(name, read_only=True)
    people = row.people.select_related("member__person").order_by("external_id")
    return {**one(row), "people": [person(each) for each in people]}


@router.patch("/channels/{name}", summary="Change a chat channel")
def change_channel(request: KeyRequest, name: str, body: RoomChange) -> Shape:
    """Another URL, other kinds of notice, on or off."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        return one(_changed(channels.named(name), bearer, body))


@router.delete("/channels/{name}", response={204: None}, summary="Remove a chat channel")
def remove_channel(request: KeyRequest, name: str) -> Status[None]:
    """Its callbacks are refused from now on."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        channels.remove(channels.named(name), actor=bearer.actor, channel="api")
    return Status(204, None)


@router.post("/channels/{name}/secret", response={201: Any}, summary="Change a chat channel's secret")
def rotate_channel(request: KeyRequest, name: str) -> Status[Any]:
    """The former secret opens the callback door as well for 24 hours."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        made = channels.rotate(channels.named(name), actor=bearer.actor, channel="api")
        return Status(201, one(made.channel, secret=made.secret))


@router.post("/channels/{name}/test", response={201: Any}, summary="Try a chat channel")
def try_channel(request: KeyRequest, name: str) -> Status[Any]:
    """Sends one message; the delivery says what came of it."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        return Status(201, delivery(channels.trial(channels.named(name), actor=bearer.actor, channel="api")))


@router.post("/channels/{name}/people", response={201: Any}, summary="Say who a chat person is here")
def bind_person(request: KeyRequest, name: str, body: PersonBody) -> Status[Any]:
    """Callbacks of this channel that name them act as this member."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        row = channels.named(name)
        sent = {"member": body.member, "external_id": body.external_id}
        return Status(201, person(channel_people.bind(row, actor=bearer.actor, channel="api", **sent)))


@router.delete("/channels/{name}/people/{uuid:person_id}", response={204: None}, summary="Take a chat person out")
def release_person(request: KeyRequest, name: str, person_id: UUID) -> Status[None]:
    """Callbacks that name them are refused from now on."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        channel_people.release(channels.named(name), person_id, actor=bearer.actor, channel="api")
    return Status(204, None)


@router.get("/deliveries", summary="List deliveries")
def list_deliveries(
    request: KeyRequest,
    status: str = "",
    transport: str = "",
    channel: UUID | None = None,
    approval_request: UUID | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> Shape:
    """What was sent to whom, newest first; `status=failed` keeps what was given up or has failed so far."""
    demand(request, "settings:read", "admin")
    found = deliveries.listed(Filters(status, transport, channel, approval_request))
    return paging.page(found, by=["-created_at", "-id"], cursor=cursor, limit=limit).answer(delivery)


@router.post("/deliveries/{uuid:delivery_id}/resend", response={201: Any}, summary="Send one again")
def resend(request: KeyRequest, delivery_id: UUID) -> Status[Any]:
    """A new delivery of the same message under the same id; 409 where it cannot leave."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        return Status(201, delivery(deliveries.resend(delivery_id, actor=bearer.actor, channel="api")))


def _webhook(webhook_id: UUID) -> Channel:
    return channels.found(webhook_id, webhook=True)


def _changed(row: Channel, bearer: Any, body: WebhookChange | RoomChange) -> Channel:
    return channels.change(row, actor=bearer.actor, changes=body.model_dump(exclude_unset=True), channel="api")
