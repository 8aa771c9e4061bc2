"""The list of runs: narrowed by state, agent and words, newest first, read by keyset."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import time_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs import access, bells, listing, telling
from runs.askings import Asking
from runs.listing import Wanted
from runs.models import Run
from runs.states import ATTENTION, FINISHED, RUN, SLEEPING
from runs.telling import Brief, Used
from runs.views import story
from runs.views.shapes import Chip, Filters, ListView, Page, RunItem
from runs.views.steps import either
from tenants.models import AgentAccess, Member
from tenants.requests import TenantRequest

SIZE = 50
MOST_COUNTED = 999
STATUSES = RUN.states | {"", listing.OPEN}
COUNTED = ("open", "waiting_approval", "needs_attention")
ATTENTION_WORDS: Mapping[str, str | Promise] = {
    "unknown_outcome": gettext_lazy("A manager to settle what came of a call."),
    "version": gettext_lazy("A worker that knows this version."),
    "permission": gettext_lazy("Somebody to put a permission right."),
    "budget": gettext_lazy("A larger budget."),
    "crash_loop": gettext_lazy("Somebody to look: its worker vanished three times."),
}


@require_safe
@never_cache
def runs(request: TenantRequest, **_names: object) -> HttpResponse:
    """The page, or its part `list`."""
    view = listed(request)
    part = "#list" if request.GET.get("part") == "list" else ""
    return render(request, f"runs/list.html{part}", {"view": view, "section": "runs"})


def listed(request: TenantRequest) -> ListView:
    """What the list shows."""
    url, seq = f"/t/{request.tenant.slug}/runs/", bells.number()
    wanted = _wanted(request.GET)
    found = listing.runs(request.member, wanted, cursor=request.GET.get("cursor"), limit=SIZE)
    brief = telling.brief(found.items)
    agents = list(AgentAccess.objects.filter(enabled=True).order_by("agent").values_list("agent", flat=True))
    now = timezone.now()
    narrow = wanted != Wanted()
    return ListView(
        url=url,
        as_of=now,
        chips=_chips(request.member, wanted, url),
        filters=_filters(wanted, agents, url),
        items=[_item(run, brief, url) for run in found.items],
        empty="" if found.items else "no_match" if narrow else "nothing" if agents else "no_agent",
        admins=[] if agents or found.items else _admins(),
        page=Page(next_url=_url(url, wanted, cursor=found.next) if found.next else ""),
        seq=seq,
    )


def _wanted(given: Mapping[str, str]) -> Wanted:
    status = given.get("status", "")
    return Wanted(
        status=status if status in STATUSES else "",
        agent=given.get("agent", "").replace("\0", ""),
        q=given.get("q", "").replace("\0", "").strip()[:200],
    )


def _url(url: str, wanted: Wanted, *, cursor: str = "") -> str:
    asked = {"status": wanted.status, "agent": wanted.agent, "q": wanted.q, "cursor": cursor}
    query = urlencode({name: value for name, value in asked.items() if value})
    return f"{url}?{query}" if query else url


def _chips(member: Member, wanted: Wanted, url: str) -> list[Chip]:
    labels = {
        "": _("All"),
        "open": _("Unfinished"),
        "waiting_approval": _("Waiting for approval"),
        "needs_attention": _("Needs attention"),
        "sleeping": _("Sleeping"),
        "paused": _("Paused"),
        "succeeded": _("Succeeded"),
        "failed": _("Failed"),
        "cancelled": _("Stopped"),
    }
    return [
        Chip(
            label=label,
            url=_url(url, replace(wanted, status=status)),
            count=_count(member, replace(wanted, status=status)) if status in COUNTED else None,
            current=status == wanted.status,
        )
        for status, label in labels.items()
    ]


def _count(member: Member, wanted: Wanted) -> int:
    """How many there are; beyond 999 nobody counts on."""
    return listing.narrowed(access.visible(member), wanted)[:MOST_COUNTED].count()


def _filters(wanted: Wanted, agents: list[str], url: str) -> Filters:
    return Filters(
        q=wanted.q,
        status=wanted.status,
        agent=wanted.agent,
        agents=agents,
        active=bool(wanted.q or wanted.agent),
        clear_url=url,
        searched=_("Titles of the last 90 days were searched.") if wanted.q else "",
    )


def _item(run: Run, brief: Brief, url: str) -> RunItem:
    used = brief.used.get(run.id, Used())
    return RunItem(
        id=str(run.id),
        url=f"{url}{run.id}/",
        title=story.title(run),
        agent=story.agent(run),
        status=run.status,
        reason=run.reason,
        waiting_for=_waiting_for(run, brief),
        started_at=run.created_at,
        started_by=story.started_by(run),
        updated_at=run.updated_at,
        finished_at=run.finished_at,
        steps_done=used.steps_done,
        steps=used.steps,
    )


def _waiting_for(run: Run, brief: Brief) -> str:
    if run.status in FINISHED:
        return ""
    if run.status == ATTENTION:
        return str(ATTENTION_WORDS.get(run.reason, ""))
    if run.status == SLEEPING and run.due_at:
        return _("Goes on by itself at %(at)s.") % {"at": time_format(timezone.localtime(run.due_at), "H:i")}
    return _answer_of(brief.asking.get(run.id, ()), brief.names)


def _answer_of(askings: Sequence[Asking], known: Mapping[UUID, str]) -> str:
    """Whose answer is waited for; who has voted on the present version has given it."""
    members = dict.fromkeys(each for asking in askings for each in asking.open_to)
    names = [known[each] for each in members if each in known]
    if names:
        return _("An answer by %(names)s.") % {"names": either(names)}
    if any(asking.asked for asking in askings):
        return _("Nobody else is asked at present.")
    return _("Nobody is asked at present.") if askings else ""


def _admins() -> list[str]:
    found = Member.objects.filter(active=True, roles__contains=["admin"]).select_related("person")
    return [member.name for member in found[:10]]
