"""A message in words: in the person's language and zone, text and HTML, details left behind the sign-in."""

import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from approvals.display import shown
from approvals.models import ApprovalRequest, Delivery
from approvals.notifications import links, outbox, unsettled
from approvals.notifications.chat import Words
from approvals.rule_forms import RISK_WORDS
from tenants import ids, wording
from tenants.mailing import Mail
from tenants.models import Tenant

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
    "edited": gettext_lazy("%(act)s was approved as edited"),
    "rejected": gettext_lazy("%(act)s was rejected"),
    "responded": gettext_lazy("%(act)s was answered by a person in its place"),
    "expired": gettext_lazy("%(act)s expired: nobody answered"),
}
_FOLLOWS = _ENDS | {
    "cancelled": gettext_lazy("%(act)s: nobody is asked any more"),
    "superseded": gettext_lazy("%(act)s is asked anew"),
}
_ENDINGS = {outbox.ENDED: _ENDS, outbox.DECIDED: _FOLLOWS}
ACTS = 3
"""How many different acts the subject of several notices names."""
_WHY = {
    "expired": gettext_lazy("Nobody need answer any more."),
    "cancelled": gettext_lazy("It was closed without an answer."),
    "superseded": gettext_lazy("Something moved since it was asked. What counts is the new request."),
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


_STUCK = gettext_lazy("%(act)s may or may not have happened, and nobody may settle it")
_OUTCOMES = {
    "": (
        gettext_lazy("%(act)s may or may not have happened"),
        gettext_lazy(
            "No answer came that says what became of it. It is not tried again by itself: a manager has to settle it."
        ),
    ),
    "no_manager": (
        _STUCK,
        gettext_lazy("Only a manager may say what became of it, and nobody here is one. Give a member that role."),
    ),
    "initiators": (
        _STUCK,
        gettext_lazy(
            "Only a manager who did not start the run may say what became of it, and every manager did. "
            "Give another member that role."
        ),
    ),
    "restricted": (
        _STUCK,
        gettext_lazy(
            "The agent is restricted, and no manager who did not start the run has its permissions. "
            "Give one the permissions to see and to operate its runs."
        ),
    ),
}
"""By why nobody may settle it: subject and sentence."""


class NotNeeded(Exception):
    """There is nothing to tell its reader any more."""


@dataclass(frozen=True)
class Letter:
    """What the templates of a message are given: `url` is "" where there is nothing to open, `ended` that the question
    it leads to takes no answer any more, or that it leads to none, `own` that the link is signed for its one reader."""

    subject: str
    sentence: str
    facts: list[tuple[str, str]]
    url: str
    tenant: str
    act: str = ""
    ended: bool = False
    own: bool = False


@dataclass(frozen=True)
class Digest:
    """Several letters in one message."""

    subject: str
    letters: list[Letter]
    tenant: str

    @property
    def ended(self) -> bool:
        """Whether one of them leads to a question that takes no answer any more."""
        return any(each.ended for each in self.letters)

    @property
    def own(self) -> bool:
        """Whether each of their links is signed for the one who reads them."""
        return all(each.own for each in self.letters)


def mail(delivery: Delivery, others: Sequence[Delivery], *, tenant: Tenant) -> Mail:
    """The mail of a delivery, and of those that leave with it, ready to be sent."""
    subject, text, html = _written(delivery, others, tenant)
    message = Mail(
        subject=subject,
        body=text,
        to=[delivery.address],
        headers={
            "Message-ID": f"<{(delivery.origin or delivery.pk).hex}@vermilion.invalid>",
            "Auto-Submitted": "auto-generated",
        },
    )
    message.attach_alternative(html, "text/html")
    return message


def words(delivery: Delivery, others: Sequence[Delivery], *, url: str, tenant: Tenant) -> Words:
    """The same as a message for a chat service."""
    subject, text, _html = _written(delivery, others, tenant)
    return Words(url=url, title=subject, body=text.partition("\n")[2].strip())


def _written(delivery: Delivery, others: Sequence[Delivery], tenant: Tenant) -> tuple[str, str, str]:
    """Subject, text and HTML, in the language and zone of the one who reads it."""
    member = delivery.member
    zone = zoneinfo.ZoneInfo((member.timezone if member else "") or tenant.timezone)
    with translation.override((member.locale if member else "") or tenant.locale), timezone.override(zone):
        letters = [_letter(each, tenant) for each in (delivery, *others)]
        name, letter = ("notice", letters[0]) if not others else ("digest", _digest(letters))
        context = {"letter": letter, "language": translation.get_language()}
        text = render_to_string(f"mail/{name}.txt", context)
        return letter.subject, text, render_to_string(f"mail/{name}.html", context)


def _digest(letters: list[Letter]) -> Digest:
    number, tenant = len(letters), letters[0].tenant
    subject = ngettext("%(n)s notice", "%(n)s notices", number) % {"n": number}
    acts = list(dict.fromkeys(each.act for each in letters if each.act))
    about = [wording.listed(acts[:ACTS]) + ("…" if acts[ACTS:] else "")] if acts else []
    return Digest(" · ".join([subject, *about, tenant]), letters, tenant)


def _letter(delivery: Delivery, tenant: Tenant) -> Letter:
    name = _plain(tenant.name)
    request = delivery.request
    if delivery.kind == outbox.UNKNOWN:
        return _about_outcome(delivery, tenant)
    if request is None:
        return _about_channels(delivery, tenant)
    words, act = _headline(delivery.kind, _end(request)), _plain(request.tool_title or request.tool)
    return Letter(
        subject=" · ".join([words % {"act": act}, _plain(request.agent), ids.reference(request.pk), name]),
        sentence=_follow(request) if delivery.kind == outbox.DECIDED else str(_SENTENCES[delivery.kind]),
        facts=_facts(request),
        url=_url(delivery, request, tenant),
        tenant=name,
        act=act,
        ended=delivery.kind in _ENDINGS,
        own=delivery.member_id is not None,
    )


def _headline(kind: str, status: str) -> str:
    found = _ENDINGS[kind].get(status) if kind in _ENDINGS else _SUBJECTS.get(kind)
    return str(found or _SUBJECTS[outbox.ASKED])


def _end(request: ApprovalRequest) -> str:
    """Its state, and apart from a plain approval the one of what a person changed."""
    return "edited" if (request.status, request.decision) == ("approved", "edit") else request.status


def _follow(request: ApprovalRequest) -> str:
    """How a request ended, for those who were told that it waits: by whom, where it was a person."""
    by = request.decided_by or {}
    if request.status in _WHY:
        return str(_WHY[request.status])
    if by.get("kind") not in ("person", "key", "command"):
        return _("Nobody answered, and silence approves it, as the rule says.")
    return _("Decided by %(who)s. Nobody need answer any more.") % {"who": _plain(str(by.get("name", "")))}


def _url(delivery: Delivery, request: ApprovalRequest, tenant: Tenant) -> str:
    if delivery.member_id:
        return links.address(tenant.slug, request=request.pk, member=delivery.member_id)
    assert delivery.channel_id is not None
    return links.for_room(tenant.slug, request=request.pk, channel=delivery.channel_id)


def _about_channels(delivery: Delivery, tenant: Tenant) -> Letter:
    """A test, or that a channel was switched off."""
    name = _plain(tenant.name)
    if delivery.kind == outbox.TEST:
        sentence = _("This message was sent to try whether it arrives. Nothing waits for you because of it.")
        return Letter(f"{_('Test')} · {name}", sentence, [], "", name)
    subject = _("A channel keeps failing and was switched off")
    sentence = _("Nobody is told by it any more. An admin can see why, mend it, and switch it on again.")
    url = f"{settings.PUBLIC_URL}/t/{tenant.slug}/settings/channels/"
    return Letter(f"{subject} · {name}", sentence, [], url, name)


def _about_outcome(delivery: Delivery, tenant: Tenant) -> Letter:
    """That nobody knows whether a call happened, for those who may say what became of it, or see to it that one may."""
    found, name = unsettled.of(delivery), _plain(tenant.name)
    if found is None:
        raise NotNeeded
    act = _plain(found.act)
    subject, sentence = _OUTCOMES[found.lacking]
    return Letter(
        subject=" · ".join([str(subject) % {"act": act}, _plain(found.agent), found.reference, name]),
        sentence=str(sentence),
        facts=[
            (_("Agent"), _plain(found.agent)),
            (_("Run"), found.reference),
            (_("Unknown since"), _moment(found.since)),
        ],
        url=f"{settings.PUBLIC_URL}/t/{tenant.slug}/{found.path}",
        tenant=name,
        act=act,
        ended=True,
    )


def _facts(request: ApprovalRequest) -> list[tuple[str, str]]:
    """What may stand outside the sign-in: no parameter, no reason, no customer, so no title of a run either.

    The reference tells it from others of its kind, and stands on the request's page too.
    """
    found = [
        (_("Request"), ids.reference(request.pk)),
        (_("Agent"), _plain(request.agent)),
        (_("Risk"), str(RISK_WORDS.get(request.risk, request.risk))),
    ]
    if request.status == "pending":
        found.append((_("Open until"), _moment(request.deadline)))
    return found


def _moment(at: datetime) -> str:
    """Day and time in the reader's zone, which is named."""
    local = timezone.localtime(at)
    return f"{wording.day(local)} {local:%H:%M} ({timezone.get_current_timezone_name()})"


def _plain(text: str) -> str:
    """One line of text whose hidden characters are written out: a header has no second line."""
    return " ".join(str(shown(text)).split())
