"""What leaves the house for one delivery, by transport: packed inside of a scope, sent outside of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.core.mail import EmailMultiAlternatives

from approvals import clock
from approvals.models import Channel, Delivery
from approvals.notifications import chat, failures, mail, messages, outbox, posting, webhooks
from approvals.notifications.chat import Words
from approvals.notifications.failures import Failure
from tenants.models import Event, Tenant
from tenants.scope import current
from tenants.secrets import reveal


@dataclass(frozen=True)
class Post:
    """One signed POST."""

    url: str
    body: str
    headers: Mapping[str, str]


Parcel = EmailMultiAlternatives | Words | Post


def pack(row: Delivery, others: Sequence[Delivery]) -> Parcel | str:
    """The parcel of a delivery and of those that leave with it, or why there is none."""
    tenant = Tenant.objects.get(pk=current())
    if row.transport == "webhook":
        assert row.channel is not None
        return _post(row, row.channel, tenant)
    try:
        return _message(row, others, tenant)
    except messages.NotNeeded:
        return outbox.NOT_NEEDED


def _message(row: Delivery, others: Sequence[Delivery], tenant: Tenant) -> Parcel:
    if row.transport == "chat":
        assert row.channel is not None
        return messages.words(row, others, url=reveal(row.channel.url), tenant=tenant)
    return messages.mail(row, others, tenant=tenant)


def send(some: Sequence[Parcel]) -> list[Failure | None]:
    """Let them leave; for each what went wrong, or None. Only messages for chat services leave together."""
    words = [each for each in some if isinstance(each, Words)]
    if words and len(words) == len(some):
        return chat.send(words)
    return [_send(each) if isinstance(each, Post) else mail.send(each) for each in some if not isinstance(each, Words)]


def _post(row: Delivery, channel: Channel, tenant: Tenant) -> Post | str:
    if row.kind == "test":
        body = webhooks.trial(row, tenant=tenant.slug)
    else:
        assert row.seq is not None
        event = Event.objects.filter(subject=row.subject, seq=row.seq).first()
        if event is None:
            return "the event is past its retention"
        body = webhooks.payload(event, tenant=tenant.slug)
    signed = webhooks.headers(channel, message=row.origin or row.pk, body=body, now=clock.now())
    return Post(reveal(channel.url), body, signed)


def _send(parcel: Post) -> Failure | None:
    try:
        answered = posting.post(parcel.url, parcel.body.encode(), parcel.headers, allowed=posting.allowed())
    except posting.Unanswered as error:
        return Failure(str(error), silent=True)
    return failures.of_answer(answered.status, answered.retry_after, now=datetime.now(UTC))
