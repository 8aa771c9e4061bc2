"""What a run may be started with, and what may be said about it; each refusal names the field."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn
from uuid import UUID

from django.db.models.functions import Now
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from approvals import writing
from approvals.display import says
from runs.models import AgentVersion
from tenants import agents, exact_json, times
from tenants.models import Member
from tenants.refusals import Refusal, invalid, not_found

INPUT_BYTES = 1024 * 1024
TITLE_LENGTH = 200
LABELS = 20
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


def agent(name: str, *, member: Member | None) -> None:
    """Refuse an agent that is not switched on here, is stopped, or is restricted and not this member's."""
    access = agents.held(name)
    if access is None or not access.enabled:
        raise not_found(_("There is no such agent here. An admin switches agents on."), code="agent_unknown")
    if member is not None and not agents.permits(member, name, "operate_runs"):
        raise not_found(_("There is no such agent here. An admin switches agents on."), code="agent_unknown")
    if access.stopped:
        detail = _("This agent was stopped; no new run starts. A manager can start it again.")
        raise Refusal("agent_stopped", detail=detail, status=409)


def version(name: str, wanted: str) -> str:
    """The version to pin: the wanted one, or the newest that a live worker knows, or the newest of all."""
    known = AgentVersion.objects.filter(agent=name)
    if wanted:
        if not known.filter(version=wanted).exists():
            _refuse("version", _("No worker has ever announced this version of the agent."), code="version_unknown")
        return wanted
    living = known.filter(known_until__gt=Now())
    newest = living.order_by("-announced_at").first() or known.order_by("-announced_at").first()
    if newest is None:
        _refuse("agent", _("No worker has announced this agent yet."), code="version_unknown")
    return newest.version


def run_input(text: str) -> None:
    """Refuse an input over 1 MiB, or one that is no JSON we can keep exactly."""
    if len(text.encode(errors="surrogatepass")) > INPUT_BYTES:
        _refuse("input", _("The input is larger than 1 MiB."), code="input_invalid")
    try:
        exact_json.loads(text)
    except exact_json.BadJson as bad:
        _refuse("input", str(bad), code="input_invalid")


def labels(found: Mapping[str, Any]) -> dict[str, str]:
    """At most twenty labels, short texts both."""
    texts = [text for pair in found.items() for text in pair]
    if len(found) > LABELS or not all(isinstance(text, str) and 0 < len(text) <= TITLE_LENGTH for text in texts):
        _refuse("labels", _("Labels are at most 20 pairs of short texts."), code="labels_invalid")
    for text in texts:
        writable("labels", text)
    return dict(found)


def title(text: str) -> str:
    """A short text."""
    if len(text) > TITLE_LENGTH:
        _refuse("title", _("The title is longer than 200 characters."))
    return writable("title", text)


def deadline(at: datetime | None) -> None:
    """Refuse a time without an offset, and one that has passed."""
    if at is None:
        return
    if at.tzinfo is None:
        _refuse("deadline", _("The deadline needs an offset, such as +00:00."), code="deadline_invalid")
    if at <= timezone.now():
        _refuse("deadline", _("The deadline has passed already."), code="deadline_passed")
    if times.too_far(at, now=timezone.now()):
        _refuse("deadline", _("The deadline lies more than ten years ahead."), code="deadline_invalid")


def member(found: UUID | None) -> None:
    """Refuse somebody who is no active member here."""
    if found is not None and not Member.objects.filter(pk=found, active=True).exists():
        _refuse("on_behalf_of", _("There is no such member."), code="member_unknown")


def remark(field: str, text: str) -> str:
    """A text a person wrote: not empty, not endless, and one that can be kept."""
    if not says(text):
        _refuse(field, _("Write something."))
    if len(text) > writing.COMMENT:
        _refuse(field, _("The text is longer than 10,000 characters."))
    return writable(field, text)


def writable(field: str, text: str) -> str:
    """Refuse characters that no database and no page can keep."""
    if _UNWRITABLE.search(text):
        _refuse(field, _("The text holds a NUL character or half of a character pair."))
    return text


def _refuse(field: str, message: str | Promise, *, code: str = "invalid") -> NoReturn:
    raise invalid(message, code=code, errors=[{"field": field, "message": message}])
