"""The page of insights, for managers: a bounded time, a fixed number of statements, no names."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals import access, measuring
from approvals.measuring import Asking, Span
from approvals.pages import insights
from tenants import pages
from tenants.models import AgentAccess, Group, Member
from tenants.requests import TenantRequest

HERE = "insights/"
PERIODS = (7, 30, 90)
DAYS = 30


@require_safe
@never_cache
@pages.only("manager")
def show(request: TenantRequest, **_names: object) -> HttpResponse:
    """What was asked in the time chosen, how it was answered, and what waits now."""
    context = {"view": _view(request), "section": "insights"}
    return render(request, "insights/insights.html", context)


def _view(request: TenantRequest) -> insights.InsightsView:
    days = _days(request.GET.get("period", ""))
    groups = {row.name: str(row.pk) for row in Group.objects.order_by("name")}
    filters = _filters(request.GET, days, sorted(groups))
    span = _span(request.member, filters, days, groups.get(filters.group, ""))
    found = measuring.askings(span)
    behind = insights.Behind("" if filters.group else f"{pages.base(request)}decided/", days, filters.agent)
    return insights.InsightsView(
        url=pages.base(request) + HERE,
        from_=span.start,
        to=span.end,
        filters=filters,
        facts=_facts(span, found, days, behind),
        tools=insights.by_tool(_of(found, "tool"), behind),
        tool_columns=insights.columns(),
        tables=_tables(span, found, behind),
        reviewing=insights.reviewing(measuring.reviewings(span)),
        advice=insights.advice(_of(found, "tool")),
        small=_("Groups under %(n)d answers are left out. Nobody is shown by name.") % {"n": insights.FEW},
    )


def _facts(span: Span, found: list[Asking], days: int, behind: insights.Behind) -> list[insights.Fact]:
    before = replace(span, start=span.start - timedelta(days=days), end=span.start)
    (now,), (earlier,) = _of(found, "all"), _of(measuring.askings(before), "all")
    settled = measuring.settling(span)
    return insights.facts(now, earlier, measuring.wrong(span), settled, behind)


def _tables(span: Span, found: list[Asking], behind: insights.Behind) -> list[insights.Table]:
    """What waits now, and the numbers by group and by risk; those that have a line."""
    every = (
        insights.waiting(measuring.waitings(span)),
        insights.by_group(_of(found, "group")),
        insights.by_risk(_of(found, "risk"), behind),
    )
    return [table for table in every if table.rows]


def _days(text: str) -> int:
    return int(text) if text in {str(days) for days in PERIODS} else DAYS


def _filters(given: Mapping[str, str], days: int, groups: list[str]) -> insights.Filters:
    agents = list(AgentAccess.objects.order_by("agent").values_list("agent", flat=True))
    group, agent = given.get("group", ""), given.get("agent", "")
    return insights.Filters(
        period=str(days),
        periods=[(str(each), _("Last %(n)d days") % {"n": each}) for each in PERIODS],
        group=group if group in groups else "",
        groups=groups,
        agent=agent if agent in agents else "",
        agents=agents,
    )


def _span(member: Member, filters: insights.Filters, days: int, group: str) -> Span:
    now = timezone.now()
    shut = access.shut(member)
    return Span(start=now - timedelta(days=days), end=now, agent=filters.agent, group=group, shut=shut)


def _of(found: list[Asking], kind: str) -> list[Asking]:
    return [row for row in found if row.kind == kind]
