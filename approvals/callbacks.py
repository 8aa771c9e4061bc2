"""The door for chat services: a signed message, in its time, used once, of a known person; then the same guard."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from standardwebhooks import Webhook

from approvals import callback_refusals, channels, decisions, errors
from approvals.decisions import Decided
from approvals.models import WEBHOOK, CallbackSeen, Channel, ChannelPerson
from approvals.notifications import webhooks
from tenants import audit, exact_json, ids, members
from tenants.models import Tenant
from tenants.refusals import Refusal, invalid
from tenants.scope import current, scope
from tenants.secrets import reveal

logger = logging.getLogger(__name__)
NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")
MOST_ID = 200
_NOBODYS = webhooks.new_secret()  # A channel that is not there is compared with too, so that both take as long.


def receive(slug: str, name: str, *, headers: Mapping[str, str], body: bytes) -> Decided:
    """Take one answer that came through a chat service, in one transaction with the use of its message id.

    Raises Refusal: 401 for all that is not a signed message of a known person in its five minutes, whatever is
    wrong with it; 409 for one that was used; and what `decisions.decide` raises.
    """
    tenant = Tenant.objects.filter(slug=slug).first()
    if tenant is None:
        _is_signed([_NOBODYS], headers, body)
        logger.info("A callback for no tenant was refused.")
        raise _not_accepted()
    with scope(tenant.pk):
        outcome = _received(name, headers, body)
    if isinstance(outcome, Refusal):
        raise outcome
    return outcome


def _received(name: str, headers: Mapping[str, str], body: bytes) -> Decided | Refusal:
    rows = Channel.objects.filter(name=name, archived_at=None, member=None).exclude(kind=WEBHOOK)
    # One that was switched off because nothing can be sent there still takes what its people answer.
    channel = rows.exclude(enabled=False, off_because=channels.BY_HAND).first()
    signed = _is_signed(_secrets(channel), headers, body)
    if channel is None:
        logger.info("A callback for no channel was refused.")
        return _not_accepted()
    if not signed:
        return _refused(channel, "signature or time")
    sent = _read(body)
    if isinstance(sent, Refusal):
        return sent
    found = ChannelPerson.objects.select_related("member__person").filter(channel=channel)
    person = found.filter(external_id=str(sent.get("user"))[:MOST_ID]).first()
    if person is None or not person.member.active or not person.member.person.is_active:
        return _refused(channel, "person")
    message = headers["webhook-id"]
    if not _use(channel, message):
        return Refusal("message_used", detail=_("This message was answered already. A message counts once."))
    return _decided(channel, person, message, sent)


def _decided(channel: Channel, person: ChannelPerson, message: str, sent: Mapping[str, Any]) -> Decided | Refusal:
    actor = members.actor_of(person.member)
    request_id = ids.parse(sent.get("request"))
    detail = {"message": message, "user": person.external_id, "request": str(request_id), "name": channel.name}
    try:
        outcome: Decided | Refusal = _decide(request_id, actor=actor, sent=sent)
    except Refusal as refusal:
        outcome = refusal
    target = f"channel:{channel.pk}"
    audit.record("callback.received", actor=actor, target=target, detail=detail, channel="callback")
    return outcome


def _decide(request_id: UUID | None, *, actor: Any, sent: Mapping[str, Any]) -> Decided:
    if request_id is None:
        raise errors.unknown()
    return decisions.decide(
        request_id,
        tenant=current(),
        actor=actor,
        decision=sent.get("decision"),
        version=sent.get("version"),
        comment=sent.get("comment"),
        channel="callback",
    )


def _is_signed(secrets: list[str], headers: Mapping[str, str], body: bytes) -> bool:
    """Whether one of the secrets signed the message within five minutes; each is compared in constant time."""
    named = {name: headers.get(name, "") for name in NAMES}
    if not 0 < len(named["webhook-id"]) <= MOST_ID or not named["webhook-id"].isprintable():
        return False
    verdicts = [_verified(secret, named, body) for secret in secrets]
    return any(verdicts)


def _verified(secret: str, named: dict[str, str], body: bytes) -> bool:
    try:
        Webhook(secret).verify(body, named, json_parse=False)
    except Exception:  # The library raises what it stumbles over; whatever it is, nothing was signed.
        return False
    return True


def _secrets(channel: Channel | None) -> list[str]:
    if channel is None:
        return [_NOBODYS]
    former = channel.former_secret if channel.former_until and channel.former_until > datetime.now(UTC) else ""
    return [reveal(each) for each in (channel.secret, former) if each]


def _read(body: bytes) -> dict[str, Any] | Refusal:
    try:
        sent = exact_json.loads(body)
    except exact_json.BadJson as error:
        return Refusal("bad_json", detail=error.message, status=400)
    return sent if isinstance(sent, dict) else invalid(_("An object is wanted."))


def _use(channel: Channel, message: str) -> bool:
    """Whether the message id was free; a second one at the same time waits here for the first one's end."""
    return CallbackSeen.objects.get_or_create(tenant_id=current(), channel=channel, message=message)[1]


def _refused(channel: Channel, why: str) -> Refusal:
    callback_refusals.enter(channel, why)
    return _not_accepted()


def _not_accepted() -> Refusal:
    """The one answer to whoever cannot show that they may knock."""
    return Refusal("not_accepted", detail=_("This callback is not accepted."), status=401)
