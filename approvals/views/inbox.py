"""The inbox and what was decided: lists by keyset, with a fixed number of queries."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from approvals import access, counted, facts, queries, topics
from approvals.display import shown
from approvals.models import ApprovalRequest, Asked, Review
from approvals.pages import inbox
from approvals.pages.reader import Reader
from approvals.queries import Filters
from approvals.rosters import Roster, roster
from approvals.views import reading
from approvals.views.kinds import tenant_request
from tenants import paging
from tenants.models import AgentAccess, GroupMember, Member
from tenants.requests import TenantRequest

PAGE = 50
COUNTED = 1_000
"""How far a list is counted that is narrowed by words or fields, for that reads each of its rows."""
VIEWS = ("mine", "groups", "hour", "critical")


@require_safe
def show(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """What waits for the reader."""
    mine = tenant_request(request)
    reader = reading.reader_of(mine)
    chosen = request.GET.get("view", "mine")
    view = _inbox(mine, reader, chosen if chosen in VIEWS else "mine")
    part = "#list" if request.GET.get("part") == "list" else ""
    context = {"view": view, "section": "inbox"}
    return reading.uncached(render(request, f"inbox/inbox.html{part}", context))


@require_safe
def decided(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001
    """What was decided, newest first."""
    mine = tenant_request(request)
    reader = reading.reader_of(mine)
    url = f"{reader.base}decided/"
    chosen = request.GET.get("view", "all")
    rows = counted.behind(queries.listed(mine.member, _filters(request)).exclude(status="pending"), request.GET)
    if chosen == "mine":
        rows = rows.filter(pk__in=Review.objects.filter(member=mine.member).values("request_id"))
    page = paging.page(rows, by=["-decided_at", "-id"], cursor=request.GET.get("after"), limit=PAGE)
    names = roster()
    chips = [
        inbox.Chip(_("All"), url, None, chosen != "mine"),
        inbox.Chip(_("By me"), f"{url}?view=mine", None, chosen == "mine"),
    ]
    view = inbox.DecidedView(
        url=url,
        chips=chips,
        filters=_filter_view(request, url),
        items=inbox.decided(facts.of(page.items, names), names, reader),
        page=inbox.PageView(next_url=_next_url(request, page.next)),
    )
    return reading.uncached(render(request, "inbox/decided.html", {"view": view, "section": "decided"}))


def _inbox(request: TenantRequest, reader: Reader, chosen: str) -> inbox.InboxView:
    url = f"{reader.base}inbox/"
    filters = _filters(request)
    seq = topics.inbox_number()
    asked = queries.listed(request.member, filters).filter(status="pending")
    rows = _narrowed(asked, chosen, request.member, reader)
    page = paging.page(rows, by=["next_at", "id"], cursor=request.GET.get("after"), limit=PAGE)
    names = roster()
    found = facts.of(page.items, names)
    filter_view = _filter_view(request, url)
    groups = inbox.groups(found, names, reader)
    chips = _chips(request.member, reader, url, chosen)
    waiting = (chips[0].count or 0) - chips[0].for_others
    besides = 0 if chosen == "mine" else waiting
    number, more = next((chip.count or 0, chip.more) for chip in chips if chip.current)
    if filter_view.active:
        number = rows.order_by()[: COUNTED + 1].count()
        number, more = min(number, COUNTED), number > COUNTED
    after = request.GET.get("after")
    return inbox.InboxView(
        url=url,
        as_of=reader.now,
        as_of_mark=str(seq),
        count=waiting,
        chips=chips,
        filters=filter_view,
        groups=groups,
        decided_url=f"{reader.base}decided/",
        page=inbox.PageView(
            next_url=_next_url(request, page.next),
            first_url=_address(request) if after else "",
            shown=len(page.items),
            total=number,
            more=more,
        ),
        everything=chosen == "mine" and not filter_view.active,
        seq=seq,
        **({} if groups else _emptiness(request, reader, names, filtered=filter_view.active, besides=besides)),
        standing_in=[
            inbox.StandingIn(names.name(each.absent), each.until) for each in names.stand_ins if each.by == reader.id
        ],
    )


def _narrowed(
    rows: QuerySet[ApprovalRequest], chosen: str, member: Member, reader: Reader
) -> QuerySet[ApprovalRequest]:
    if chosen == "groups":
        return rows.filter(_of_groups(member))
    rows = rows.filter(queries.asked_of(member))
    if chosen == "hour":
        return rows.filter(next_at__lte=reader.now + timedelta(hours=1))
    return rows.filter(risk="critical") if chosen == "critical" else rows


def _of_groups(member: Member) -> Q:
    """Requests that ask the reader or somebody who shares a group with the reader; one condition, so that a count that
    ends early need not first gather everybody who is asked."""
    groups = GroupMember.objects.filter(member=member).values("group_id")
    fellows = GroupMember.objects.filter(group_id__in=groups).values("member_id")
    theirs = Q(member=member) | Q(member_id__in=fellows)
    return Q(Exists(Asked.objects.filter(theirs, request=OuterRef("pk"), until__isnull=True)))


def _chips(member: Member, reader: Reader, url: str, chosen: str) -> list[inbox.Chip]:
    """The views of the list with their numbers; two queries. Of the groups' no more than `COUNTED` are counted.

    What asks the reader is found by that they are asked, once for all numbers: of ten thousand requests that wait, each
    would be looked at for each number.
    """
    numbers = Asked.objects.filter(member=member, until__isnull=True, request__status="pending").aggregate(
        mine=Count("pk"),
        hour=Count("pk", filter=Q(request__next_at__lte=reader.now + timedelta(hours=1))),
        critical=Count("pk", filter=Q(request__risk="critical")),
        voted=Count("pk", filter=Q(queries.voted())),
    )
    theirs = access.readable(member).filter(_of_groups(member), status="pending")
    numbers["groups"] = theirs.order_by()[: COUNTED + 1].count()
    labels = {
        "mine": _("Asked of me"),
        "groups": _("My groups"),
        "hour": _("Due within the hour"),
        "critical": _("Critical"),
    }
    return [
        inbox.Chip(
            label,
            url if key == "mine" else f"{url}?view={key}",
            min(numbers[key], COUNTED) if key == "groups" else numbers[key],
            key == chosen,
            more=key == "groups" and numbers[key] > COUNTED,
            for_others=numbers["voted"] if key == "mine" else 0,
        )
        for key, label in labels.items()
    ]


def _filters(request: HttpRequest) -> Filters:
    get = request.GET.get
    return Filters(q=get("q", ""), tool=get("tool", ""), agent=get("agent", ""), risk=get("risk", ""))


def _filter_view(request: HttpRequest, url: str) -> inbox.FilterView:
    values = _filters(request)
    # The newest by their ids, which an index has in this order; of opened_at, none has all states.
    recent = ApprovalRequest.objects.order_by("-id").values_list("tool", "agent")[:200]
    tools, agents = zip(*recent, strict=True) if recent else ((), ())
    words = _("The last %(days)s days were searched.") % {"days": queries.SEARCHED.days} if values.q else ""
    return inbox.FilterView(
        q=values.q,
        tool=values.tool,
        agent=values.agent,
        risk=values.risk,
        tools=sorted(set(tools)),
        agents=sorted(set(agents)),
        active=any((values.q, values.tool, values.agent, values.risk)),
        clear_url=url,
        searched=words,
        action=url,
    )


def _next_url(request: HttpRequest, cursor: str | None) -> str:
    return "" if cursor is None else _address(request, after=cursor)


def _address(request: HttpRequest, **more: str) -> str:
    """The list as it is narrowed, from its beginning or from a cursor on."""
    kept = {name: value for name, value in request.GET.items() if name not in ("after", "part")}
    query = urlencode({**kept, **more})
    return f"{request.path}?{query}" if query else request.path


def _emptiness(
    request: TenantRequest, reader: Reader, names: Roster, *, filtered: bool, besides: int
) -> dict[str, Any]:
    """Why the list is empty, and what stands in its place; `besides` wait for the reader outside the chosen view."""
    if filtered:
        return {"empty": "no_match"}
    if besides:
        return {"empty": "not_this_kind", "besides": besides}
    away = names.away(reader.id)
    if away:
        return {"empty": "away", "away_until": away.until, "stand_in": names.name(away.by)}
    if not AgentAccess.objects.filter(enabled=True).exists():
        admins = [each.name for each in names.people.values() if "admin" in each.roles]
        return {"empty": "no_agent", "admins": admins}
    nothing = {"empty": "nothing", "comes": _comes(request.member)}
    last = Review.objects.filter(member=request.member).select_related("request").order_by("-at", "-id").first()
    if last is None:
        return nothing
    title = last.request.versions.get(number=last.version).title
    return {**nothing, "last": inbox.Last(shown(title), last.decision, last.at)}


def _comes(member: Member) -> str:
    """Whether anything can ever be asked of this member: by the role of a reviewer, or of an admin, or never."""
    return next((role for role in ("reviewer", "admin") if member.has(role)), "")
