"""The API of one's own notices: how one wishes to be told, one's own chat channels, a test."""

from typing import Any
from uuid import UUID

from ninja import Router, Schema, Status
from pydantic import ConfigDict

from approvals import channels, wishes
from approvals.api.channel_shapes import delivery, one
from approvals.api.channels import ChannelBody
from approvals.notifications import outbox
from tenants import audit
from tenants.bearer import demand
from tenants.requests import KeyRequest
from tenants.scope import scope

router = Router(tags=["notices"])
Shape = dict[str, Any]


class WishBody(Schema):
    """What is not sent stays; `locale` and `timezone` of null are the tenant's."""

    model_config = ConfigDict(extra="forbid")

    locale: str | None = None
    timezone: str | None = None
    digest: Any = None
    quiet: Any = None
    kinds: Any = None


@router.get("/notices", summary="Read how you are told")
def read(request: KeyRequest) -> Shape:
    """Your language, zone, kinds of notice, digest and quiet hours."""
    return wishes.read(demand(request, "approvals:read").member)


@router.patch("/notices", summary="Change how you are told")
def change(request: KeyRequest, body: WishBody) -> Shape:
    """`{digest: none, hourly or daily, quiet: {from, until} or null, kinds: {asked: {email: false}}}`."""
    bearer = demand(request, "approvals:decide")
    with scope(bearer.tenant):
        changes = body.model_dump(exclude_unset=True)
        return wishes.change(bearer.member, actor=bearer.actor, changes=changes, channel="api")


@router.post("/notices/test", response={201: Any}, summary="Try your mail")
def try_mail(request: KeyRequest) -> Status[Any]:
    """Sends one message to your own address; the delivery says what came of it."""
    bearer = demand(request, "approvals:decide")
    with scope(bearer.tenant):
        row = outbox.try_mail(bearer.member)
        audit.record(
            "notices.tested", actor=bearer.actor, target=f"member:{bearer.member.pk}", detail={}, channel="api"
        )
        return Status(201, delivery(row))


@router.get("/notices/channels", summary="List your own chat channels")
def list_own(request: KeyRequest) -> Shape:
    """What only you are told by."""
    member = demand(request, "approvals:read").member
    return {"items": [one(row) for row in channels.own(member)], "next": None}


@router.post("/notices/channels", response={201: Any}, summary="Make a chat channel of your own")
def create_own(request: KeyRequest, body: ChannelBody) -> Status[Any]:
    """You are told by it as well from now on."""
    bearer = demand(request, "approvals:decide")
    sent = {"kind": body.kind, "name": body.name, "url": body.url, "member": bearer.member}
    with scope(bearer.tenant):
        return Status(201, one(channels.add_chat(actor=bearer.actor, channel="api", **sent).channel))


@router.delete("/notices/channels/{uuid:channel_id}", response={204: None}, summary="Remove one of your own")
def remove_own(request: KeyRequest, channel_id: UUID) -> Status[None]:
    """Nothing is sent by it any more."""
    bearer = demand(request, "approvals:decide")
    with scope(bearer.tenant):
        channels.remove(channels.own_one(bearer.member, channel_id), actor=bearer.actor, channel="api")
    return Status(204, None)


@router.post("/notices/channels/{uuid:channel_id}/test", response={201: Any}, summary="Try one of your own")
def try_own(request: KeyRequest, channel_id: UUID) -> Status[Any]:
    """Sends one message; the delivery says what came of it."""
    bearer = demand(request, "approvals:decide")
    with scope(bearer.tenant):
        row = channels.own_one(bearer.member, channel_id)
        return Status(201, delivery(channels.trial(row, actor=bearer.actor, channel="api")))
