"""A message in words: in the person's language and zone, text and HTML, details left behind the sign-in."""

import zoneinfo
from dataclasses import dataclass
from email.utils import make_msgid

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals.display import shown
from approvals.models import ApprovalRequest, Delivery
from approvals.notifications import links, outbox
from tenants.models import Member, Tenant

_SUBJECTS = {
    outbox.ASKED: gettext_lazy("%(act)s waits for your answer"),
    outbox.AGAIN: gettext_lazy("%(act)s still waits for your answer"),
    outbox.CLOSING: gettext_lazy("%(act)s: the time to answer ends soon"),
    outbox.LAPSED: gettext_lazy("%(act)s was edited: your vote no longer counts"),
    outbox.NOBODY: gettext_lazy("%(act)s: too few people can answer"),
    outbox.UNREADABLE: gettext_lazy("%(act)s: a rule could not be evaluated"),
}
_ENDS = {
    "approved": gettext_lazy("%(act)s was approved"),
    "rejected": gettext_lazy("%(act)s was rejected"),
    "responded": gettext_lazy("%(act)s was answered by a person in its place"),
    "expired": gettext_lazy("%(act)s expired: nobody answered"),
}
_SENTENCES = {
    outbox.ASKED: gettext_lazy("An agent wants to do something that a rule asks you about."),
    outbox.AGAIN: gettext_lazy("Nobody has answered yet."),
    outbox.CLOSING: gettext_lazy("If nobody answers, silence decides as the rule says."),
    outbox.LAPSED: gettext_lazy("Another person changed the call after you approved it. Read it again, then answer."),
    outbox.NOBODY: gettext_lazy("Fewer people than the rule needs can answer. The deadline runs."),
    outbox.UNREADABLE: gettext_lazy("A rule could not be evaluated for this call, so an admin has to answer it."),
    outbox.ENDED: gettext_lazy("This is how the question about a run of yours ended."),
}


@dataclass(frozen=True)
class Letter:
    """What the templates of a message are given."""

    subject: str
    sentence: str
    facts: list[tuple[str, str]]
    url: str
    tenant: str


def build(delivery: Delivery, *, member: Member, tenant: Tenant) -> EmailMultiAlternatives:
    """The message of a delivery, ready to be sent."""
    request = delivery.request
    assert request is not None
    zone = zoneinfo.ZoneInfo(member.timezone or tenant.timezone)
    with translation.override(member.locale or tenant.locale), timezone.override(zone):
        letter = _letter(delivery, request, member, tenant)
        context = {"letter": letter, "language": translation.get_language()}
        text = render_to_string("mail/notice.txt", context)
        html = render_to_string("mail/notice.html", context)
    message = EmailMultiAlternatives(
        subject=letter.subject,
        body=text,
        to=[delivery.address],
        headers={
            "Message-ID": make_msgid(idstring=delivery.pk.hex, domain="vermilion.invalid"),
            "Auto-Submitted": "auto-generated",
        },
    )
    message.attach_alternative(html, "text/html")
    return message


def _letter(delivery: Delivery, request: ApprovalRequest, member: Member, tenant: Tenant) -> Letter:
    words = (
        _ENDS.get(request.status, _SUBJECTS[outbox.ASKED])
        if delivery.kind == outbox.ENDED
        else _SUBJECTS[delivery.kind]
    )
    act = _plain(request.tool_title or request.tool)
    return Letter(
        subject=f"{words % {'act': act}} · {_plain(tenant.name)}",
        sentence=str(_SENTENCES[delivery.kind]),
        facts=_facts(request),
        url=links.address(tenant.slug, request=request.pk, member=member.pk),
        tenant=_plain(tenant.name),
    )


def _facts(request: ApprovalRequest) -> list[tuple[str, str]]:
    """What may stand outside the sign-in: no parameter, no reason, no customer."""
    found = [
        (_("Agent"), _plain(request.agent)),
        (_("Risk"), request.risk),
    ]
    if request.status == "pending":
        end = timezone.localtime(request.deadline)
        found.append((_("Open until"), f"{date_format(end, 'j M Y H:i')} ({timezone.get_current_timezone_name()})"))
    return found


def _plain(text: str) -> str:
    """One line of text whose hidden characters are written out: a header has no second line."""
    return " ".join(str(shown(text)).split())
