"""The API of working time: the tenant's calendars."""

from typing import Any
from uuid import UUID

from ninja import Router, Schema, Status
from pydantic import ConfigDict

from approvals import clock, working_hours
from approvals.models import Calendar
from tenants.bearer import demand
from tenants.requests import KeyRequest
from tenants.scope import scope

router = Router(tags=["working time"])
Shape = dict[str, Any]


class CalendarBody(Schema):
    """Hours by weekday, holidays by country, own days; `default` makes it the tenant's."""

    model_config = ConfigDict(extra="forbid")

    name: Any = None
    zone: Any = None
    week: Any = None
    country: Any = None
    subdivision: Any = None
    days: Any = None
    default: bool = False


@router.get("/calendars", summary="List the calendars")
def list_calendars(request: KeyRequest) -> Shape:
    """All of them, the default first."""
    demand(request, "settings:read")
    rows = Calendar.objects.filter(archived_at__isnull=True).order_by("-is_default", "name", "id")
    return {"items": [_shape(row) for row in rows], "next": None}


@router.post("/calendars", response={201: Any}, summary="Make a calendar")
def create(request: KeyRequest, body: CalendarBody) -> Status[Any]:
    """`week` is `{"monday": [["09:00", "17:00"]], …}`; a day that is left out is free."""
    bearer = demand(request, "settings:write", "admin")
    sent = body.model_dump(exclude_unset=True, exclude={"default"})
    with scope(bearer.tenant):
        row = working_hours.create(actor=bearer.actor, default=body.default, channel="api", **sent)
        return Status(201, _shape(row))


@router.get("/calendars/{uuid:calendar_id}", summary="Read a calendar")
def read(request: KeyRequest, calendar_id: UUID) -> Shape:
    """One calendar, with the holidays of this year and the next."""
    demand(request, "settings:read")
    row = working_hours.found(calendar_id)
    free = [{"date": day.isoformat(), "name": name} for day, name in working_hours.holidays_of(row, clock.now().year)]
    return {**_shape(row), "holidays": free}


@router.patch("/calendars/{uuid:calendar_id}", summary="Change a calendar")
def change(request: KeyRequest, calendar_id: UUID, body: CalendarBody) -> Shape:
    """Levels of what waits follow; deadlines that run stay."""
    bearer = demand(request, "settings:write", "admin")
    changes = body.model_dump(exclude_unset=True, exclude={"default"})
    with scope(bearer.tenant):
        row = working_hours.change(
            calendar_id, actor=bearer.actor, changes=changes, default=body.default, channel="api"
        )
        return _shape(row)


@router.delete("/calendars/{uuid:calendar_id}", response={204: None}, summary="Archive a calendar")
def archive(request: KeyRequest, calendar_id: UUID) -> Status[None]:
    """Nothing new may name it; what names it keeps it. The default stays."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        working_hours.archive(calendar_id, actor=bearer.actor, channel="api")
    return Status(204, None)


def _shape(row: Calendar) -> Shape:
    return {
        "id": row.pk,
        "default": row.is_default,
        "created_at": row.created_at,
        **working_hours.written(row),
        "warnings": working_hours.warnings(row),
    }
