"""The tenant's calendars: what an admin writes about working hours, and the calendar made of it."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from django.utils import translation
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from approvals import calendars, clock, errors, free_days, rule_bodies, week_texts
from approvals.models import Calendar
from tenants import audit, stamps
from tenants.actors import Actor
from tenants.audit_names import Action
from tenants.models import Tenant
from tenants.refusals import not_found
from tenants.scope import current

FIRST_NAME = gettext_lazy("Working hours")
_FIELDS = ("name", "zone", "week", "country", "subdivision", "days")


def create(*, actor: Actor, default: bool = False, channel: str = "", **sent: Any) -> Calendar:
    """Make a calendar in the tenant in scope.

    `zone` "" means the tenant's own, `week` is `{"monday": [["09:00", "17:00"]], …}`, `days` are
    `[{"date", "name", "hours"}]`. Raises Refusal 422 naming each field that cannot be used.
    """
    row = Calendar(tenant_id=current(), **_validated(sent))
    row.save(force_insert=True)
    if default:
        _make_default(row)
    _record("calendar.created", row, actor=actor, channel=channel)
    return row


def change(
    calendar_id: UUID, *, actor: Actor, changes: Mapping[str, Any], default: bool = False, channel: str = ""
) -> Calendar:
    """Change a calendar; levels of what waits follow, deadlines that run stay. Raises Refusal 404 or 422."""
    row = found(calendar_id)
    body = _validated({**written(row), **changes}, of=row)
    for name, value in body.items():
        setattr(row, name, value)
    row.save(update_fields=list(body))
    if default:
        _make_default(row)
    _record("calendar.changed", row, actor=actor, channel=channel)
    return row


def archive(calendar_id: UUID, *, actor: Actor, channel: str = "") -> None:
    """Let nothing new name the calendar; what names it keeps it. The default stays: Refusal 409."""
    row = found(calendar_id)
    if row.is_default:
        raise errors.field("id", _("The default calendar stays. Make another one the default first."))
    row.archived_at = clock.now()
    row.save(update_fields=["archived_at"])
    _record("calendar.archived", row, actor=actor, channel=channel)


def found(calendar_id: UUID) -> Calendar:
    """The calendar with this id; raises Refusal 404."""
    row = Calendar.objects.filter(pk=calendar_id, archived_at__isnull=True).first()
    if row is None:
        raise not_found(_("There is no such calendar."))
    return row


def warnings(row: Calendar) -> list[str]:
    """What whoever sets the calendar should know: a default in which a day from Monday to Friday is free."""
    if not row.is_default or all(row.week[:5]):
        return []
    return [
        _("It is the default and has no hours on some of Monday to Friday: time that is counted stands still then.")
    ]


def make_first() -> Calendar:
    """The calendar a tenant begins with, in its scope: Monday to Friday, 9 to 17, in its zone and language."""
    week = week_texts.written_week(calendars.OFFICE_WEEK)
    with translation.override(Tenant.objects.values_list("locale", flat=True).get(pk=current())):
        name = str(FIRST_NAME)
    return Calendar.objects.create(tenant_id=current(), name=name, week=list(week.values()), is_default=True)


def written(row: Calendar) -> dict[str, Any]:
    """The calendar as it can be sent again."""
    week = dict(zip(week_texts.WEEKDAYS, row.week, strict=True))
    return {**{name: getattr(row, name) for name in _FIELDS}, "week": week}


def named(keys: Iterable[str | UUID | None]) -> list[tuple[str, str]]:
    """Name and zone of the calendars with these ids, the default's for None; two queries."""
    wanted = {str(key) if key else None for key in keys}
    zone = Tenant.objects.values_list("timezone", flat=True).get(pk=current())
    rows = Calendar.objects.order_by("name")
    return [
        (row.name, row.zone or zone) for row in rows if str(row.pk) in wanted or (row.is_default and None in wanted)
    ]


def calendars_of(keys: Iterable[str | UUID | None]) -> list[calendars.Calendar]:
    """The calendars with these ids, also archived ones; None, or an id that is gone, means the default. One query,
    and one for the zone."""
    wanted = {str(key) if key else None for key in keys}
    rows = {str(row.pk): row for row in Calendar.objects.all() if row.is_default or str(row.pk) in wanted}
    zone = Tenant.objects.values_list("timezone", flat=True).get(pk=current())
    default = next((made(row, zone) for row in rows.values() if row.is_default), calendars.office(zone))
    return [made(rows[key], zone) if key in rows else default for key in sorted(wanted, key=str)]


def calendar_of(key: str | UUID | None) -> calendars.Calendar:
    """The calendar with this id, or the default."""
    return calendars_of([key])[0]


def made(row: Calendar, zone: str) -> calendars.Calendar:
    """The calendar that a row describes, in a tenant whose own zone this is."""
    own = {date.fromisoformat(each["date"]): week_texts.hours(each["hours"]) for each in row.days}
    return calendars.Calendar(
        zone=row.zone or zone,
        week=tuple(week_texts.hours(day) for day in row.week),
        days=own,
        country=row.country,
        subdivision=row.subdivision,
    )


def holidays_of(row: Calendar, year: int) -> list[tuple[date, str]]:
    """The public holidays of this year and the next with their names, in the reader's language where it is known."""
    if not row.country:
        return []
    language = get_language() or "en"
    years = (free_days.named(row.country, row.subdivision, each, language=language) for each in (year, year + 1))
    return [pair for each in years for pair in each.items()]


def _make_default(row: Calendar) -> None:
    stamps.bump()  # Its row lock lets one of two who do this wait for the other.
    Calendar.objects.filter(is_default=True).exclude(pk=row.pk).update(is_default=False)
    row.is_default = True
    row.save(update_fields=["is_default"])


def _validated(sent: Mapping[str, Any], *, of: Calendar | None = None) -> dict[str, Any]:
    wrong: list[dict[str, str]] = [
        {"field": field, "message": _("A calendar has no such field.")} for field in sent if field not in _FIELDS
    ]
    body: dict[str, Any] = {}
    for field, check in _CHECKS.items():
        try:
            body[field] = check(sent.get(field))
        except ValueError as error:
            wrong.append({"field": field, "message": str(error)})
    if not wrong and body["subdivision"] not in ("", *free_days.countries().get(body["country"], ())):
        wrong.append({"field": "subdivision", "message": _("The country has no such part.")})
    same = Calendar.objects.filter(name=body.get("name", ""), archived_at__isnull=True)
    if (same.exclude(pk=of.pk) if of else same).exists():
        wrong.append({"field": "name", "message": _("Another calendar has this name.")})
    if wrong:
        raise errors.fields(wrong, code="invalid_calendar")
    return body


def _zone(value: Any) -> str:
    if value in (None, ""):
        return ""
    if not isinstance(value, str) or value not in available_timezones():
        raise ValueError(_("This is not the name of a time zone."))
    return value


def _country(value: Any) -> str:
    if value not in (None, "", *free_days.countries()):
        raise ValueError(_("The holidays of this country are not known. Write two letters, such as DE."))
    return value or ""


def _text(value: Any) -> str:
    return str(value or "")


def _week(value: Any) -> list[Any]:
    return list(week_texts.written_week(week_texts.week(value)).values())


def _days(value: Any) -> list[Any]:
    return week_texts.written_days(week_texts.days(value or []))


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "name": rule_bodies.name,
    "zone": _zone,
    "week": _week,
    "country": _country,
    "subdivision": _text,
    "days": _days,
}


def _record(action: Action, row: Calendar, *, actor: Actor, channel: str) -> None:
    stamps.bump()
    detail = {**written(row), "default": row.is_default}
    audit.record(action, actor=actor, target=f"calendar:{row.pk}", detail=detail, channel=channel)
