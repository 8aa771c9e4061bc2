"""The pages of working time: the tenant's calendars."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_http_methods, require_POST

from approvals import clock, rules, week_texts, working_hours
from approvals.models import Calendar, EscalationPolicy
from approvals.time_forms import DAYS, CalendarForm
from tenants import pages
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

HERE = "settings/calendars/"
MOST = 100
HOLIDAYS = 12
WHOLE = "\u2060–\u2060"
"""Between two times, so that no line ends there."""


@dataclass(frozen=True)
class DayLine:
    """A weekday and its hours."""

    name: str
    hours: str


@dataclass(frozen=True)
class FreeDay:
    """A holiday, or a day of the tenant's own."""

    day: str
    name: str
    hours: str = ""


@dataclass(frozen=True)
class CalendarCard:
    """One calendar and what names it."""

    name: str
    url: str
    zone: str
    is_default: bool
    week: Sequence[DayLine]
    users: Sequence[str]
    country: str
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class CalendarsView:
    """All calendars, and the one in the form."""

    url: str
    calendars: Sequence[CalendarCard]
    form_url: str
    form_title: str
    new_url: str = ""
    archive_url: str = ""
    free: Sequence[FreeDay] = ()


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def every(request: TenantRequest, **_names: object) -> HttpResponse:
    """The calendars, and a new one."""
    with pages.read(request):
        if request.method != "POST":
            return _page(request, CalendarForm(initial={day: [["09:00", "17:00"]] for day in list(DAYS)[:5]}))
        form = CalendarForm(request.POST)
        if not form.is_valid():
            return _page(request, form, status=422)
    try:
        with scope(request.tenant.pk):
            default = form.cleaned_data["default"]
            working_hours.create(actor=request.actor, default=default, channel="page", **form.body())
    except Refusal as refusal:
        return _refused(request, refusal, form)
    return pages.done(request, HERE, _("The calendar is made. Rules and escalation policies can name it now."))


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only("admin")
def one(request: TenantRequest, calendar_id: UUID, **_names: object) -> HttpResponse:
    """One calendar: read, changed."""
    with pages.read(request):
        row = working_hours.found(calendar_id)
        if request.method != "POST":
            return _page(request, CalendarForm(initial=_initial(row), is_default=row.is_default), row)
        form = CalendarForm(request.POST, is_default=row.is_default)
        if not form.is_valid():
            return _page(request, form, row, status=422)
    try:
        with scope(request.tenant.pk):
            default = bool(form.cleaned_data.get("default"))
            working_hours.change(calendar_id, actor=request.actor, changes=form.body(), default=default, channel="page")
    except Refusal as refusal:
        return _refused(request, refusal, form, row)
    return pages.done(request, HERE, _("Saved. Levels of what waits follow; deadlines that run stay."))


@require_POST
@pages.only("admin")
def archive(request: TenantRequest, calendar_id: UUID, **_names: object) -> HttpResponse:
    """Let nothing new name it."""
    try:
        with scope(request.tenant.pk):
            working_hours.archive(calendar_id, actor=request.actor, channel="page")
    except Refusal as refusal:
        with pages.read(request):
            row = working_hours.found(calendar_id)
            form = CalendarForm(initial=_initial(row), is_default=row.is_default)
        return _page(request, form, row, status=pages.refused(request, refusal), problem=_said(refusal))
    return pages.done(request, HERE, _("Nothing new can name it. What names it keeps it."))


def _said(refusal: Refusal) -> str:
    return str(refusal.errors[0]["message"]) if refusal.errors else str(refusal.detail)


def _initial(row: Calendar) -> dict[str, Any]:
    shown = working_hours.written(row)
    return {**shown, **shown["week"]}


def _refused(request: TenantRequest, refusal: Refusal, form: CalendarForm, row: Calendar | None = None) -> HttpResponse:
    if refusal.status == 404:
        raise refusal
    request.refusal = refusal
    form.refuse(refusal.errors or [{"field": "", "message": refusal.detail}])
    return _page(request, form, row, status=refusal.status)


def _page(
    request: TenantRequest,
    form: CalendarForm,
    row: Calendar | None = None,
    *,
    status: int = 200,
    problem: str = "",
) -> HttpResponse:
    url = pages.base(request) + HERE
    with pages.read(request):
        users = _users()
        found = Calendar.objects.filter(archived_at__isnull=True).order_by("-is_default", "name", "id")[:MOST]
        view = CalendarsView(
            url=url,
            calendars=[_card(each, users.get(str(each.pk), []), url, request) for each in found],
            form_url=f"{url}{row.pk}/" if row else url,
            form_title=_("Change “%(name)s”") % {"name": row.name} if row else _("New calendar"),
            new_url=url if row else "",
            archive_url=f"{url}{row.pk}/archive/" if row and not row.is_default else "",
            free=_free(row) if row else (),
        )
    context = {"view": view, "form": form, "problem": problem}
    return pages.page(request, "settings/calendars.html", context, section="tools", here=HERE, status=status)


def _users() -> dict[str, list[str]]:
    """The live rules and the escalation policies that name each calendar."""
    found: dict[str, list[str]] = {}
    for body in rules.live_bodies():
        if body["working_time"] and body.get("calendar"):
            found.setdefault(str(body["calendar"]), []).append(body["name"])
    policies = EscalationPolicy.objects.filter(archived_at__isnull=True, working_time=True, calendar__isnull=False)
    for row in policies.order_by("name"):
        found.setdefault(str(row.calendar_id), []).append(row.name)
    return found


def _card(row: Calendar, users: Sequence[str], url: str, request: TenantRequest) -> CalendarCard:
    place = f"{row.country}, {row.subdivision}" if row.subdivision else row.country
    return CalendarCard(
        name=row.name,
        url=f"{url}{row.pk}/",
        zone=row.zone or request.tenant.timezone,
        is_default=row.is_default,
        week=_week(row),
        users=users,
        country=place,
        warnings=working_hours.warnings(row),
    )


def _week(row: Calendar) -> list[DayLine]:
    """The days with their hours, those in a row with the same hours together."""
    names = [str(name) for name in DAYS.values()]
    told = [week_texts.told_hours(day) for day in row.week]
    lines: list[DayLine] = []
    first = 0
    for place in range(1, 8):
        if place < 7 and told[place] == told[first]:
            continue
        last = place - 1
        words = {"first": names[first], "last": names[last]}
        name = names[first] if first == last else _("%(first)s to %(last)s") % words
        lines.append(DayLine(name, told[first].replace("–", WHOLE) or _("free")))
        first = place
    return lines


def _free(row: Calendar) -> list[FreeDay]:
    """The next holidays, and all days of the tenant's own that have not passed."""
    today = clock.now().date()
    own = {date.fromisoformat(each["date"]): each for each in row.days}
    holidays = [pair for pair in working_hours.holidays_of(row, today.year) if pair[0] >= today][:HOLIDAYS]
    days = {day: FreeDay(_day(day), name, _("free")) for day, name in holidays}
    days |= {
        day: FreeDay(_day(day), each["name"], week_texts.told_hours(each["hours"]) or _("free"))
        for day, each in own.items()
        if day >= today
    }
    return [days[day] for day in sorted(days)]


def _day(day: date) -> str:
    return date_format(day, pgettext("date", "D j M Y"))
