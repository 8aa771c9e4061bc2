"""Who the people of a chat service are here: whoever a callback names acts as the member that an admin has named."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from approvals import errors, rule_bodies
from approvals.models import Channel, ChannelPerson
from tenants import audit
from tenants.actors import Actor
from tenants.models import Member
from tenants.refusals import not_found
from tenants.scope import current

MOST_ID = 200


def bind(row: Channel, *, actor: Actor, member: Any, external_id: Any, channel: str = "") -> ChannelPerson:
    """Let this person of the service act as this member, by id or address. Raises Refusal 422."""
    known = _external(external_id)
    try:
        found = Member.objects.select_related("person").get(pk=rule_bodies.member_id(member))
    except ValueError as error:
        raise errors.field("member", str(error)) from error
    if ChannelPerson.objects.filter(channel=row, external_id=known).exists():
        message = _("This person of the service is a member already. Take them out first.")
        raise errors.field("external_id", message, code="bound_already")
    made = ChannelPerson.objects.create(tenant_id=current(), channel=row, member=found, external_id=known)
    detail = {"member": str(found.pk), "external_id": known, "channel": str(row.pk)}
    audit.record("channel.person_bound", actor=actor, target=f"member:{found.pk}", detail=detail, channel=channel)
    return made


def release(row: Channel, person_id: UUID, *, actor: Actor, channel: str = "") -> None:
    """Let this person of the service act as nobody. Raises Refusal 404."""
    found = ChannelPerson.objects.filter(channel=row, pk=person_id).first()
    if found is None:
        raise not_found(_("There is no such person of this channel."))
    detail = {"member": str(found.member_id), "external_id": found.external_id, "channel": str(row.pk)}
    found.delete()
    target = f"member:{detail['member']}"
    audit.record("channel.person_released", actor=actor, target=target, detail=detail, channel=channel)


def _external(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MOST_ID or not value.isprintable() or not value.strip():
        raise errors.field("external_id", _("The id that the chat service gives this person is wanted."))
    return value
