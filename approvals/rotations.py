"""On-call rotations: what an admin writes about who has which turn, and who takes one out of turn."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from django.utils.translation import gettext as _

from approvals import clock, errors, rotas, rule_bodies
from approvals.models import EscalationPolicy, Rotation, RotationMember, RotationOverride
from tenants import audit, stamps, times, wording
from tenants.actors import Actor
from tenants.audit_names import Action
from tenants.models import Member
from tenants.refusals import not_found
from tenants.scope import current

MAX_MEMBERS = 100
MAX_OVERRIDES = 200
_FIELDS = ("name", "zone", "every", "handover", "first_day", "members")


def create(*, actor: Actor, channel: str = "", **sent: Any) -> Rotation:
    """Make a rotation in the tenant in scope.

    `every` is day or week, `handover` a local time such as "09:00" in `zone`, `first_day` the date on which the first
    of `members` (addresses or ids, in their order) begins. Raises Refusal 422 naming each field that cannot be used.
    """
    body = _validated(sent)
    members = body.pop("members")
    row = Rotation.objects.create(tenant_id=current(), **body)
    _write_places(row, members)
    _record("rotation.created", row, actor=actor, channel=channel)
    return row


def change(rotation_id: UUID, *, actor: Actor, changes: Mapping[str, Any], channel: str = "") -> Rotation:
    """Change a rotation; what waits is asked of whoever is on call by it now. Raises Refusal 404 or 422."""
    row = found(rotation_id)
    body = _validated({**written(row), **changes}, of=row)
    members = body.pop("members")
    for name, value in body.items():
        setattr(row, name, value)
    row.save(update_fields=list(body))
    if members != members_of(row):
        RotationMember.objects.filter(rotation=row).delete()
        _write_places(row, members)
    _record("rotation.changed", row, actor=actor, channel=channel)
    return row


def archive(rotation_id: UUID, *, actor: Actor, channel: str = "") -> None:
    """Let nothing name the rotation; not while an escalation policy asks it. Raises Refusal 404 or 422."""
    row = found(rotation_id)
    users = users_of(row)
    if users:
        words = _("It is asked by: %(names)s. Take it out there first.") % {"names": wording.listed(users)}
        raise errors.field("id", words, code="in_use")
    row.archived_at = clock.now()
    row.save(update_fields=["archived_at"])
    _record("rotation.archived", row, actor=actor, channel=channel)


def override(
    rotation_id: UUID, *, actor: Actor, member: Member, starts: datetime | None, ends: datetime, channel: str = ""
) -> RotationOverride:
    """Put a member on call for a period (`starts` None means now), whoever's turn it is. Raises Refusal 404 or 422."""
    row = found(rotation_id)
    now = clock.now()
    begin = starts or now
    if wrong := _wrong_period(row, member, begin, ends, now=now):
        raise errors.fields(wrong, code="invalid_override")
    made = RotationOverride.objects.create(tenant_id=current(), rotation=row, member=member, starts=begin, ends=ends)
    stamps.bump()
    detail = {"rotation": row.name, "member": str(member.pk), "from": begin.isoformat(), "until": ends.isoformat()}
    audit.record("override.created", actor=actor, target=f"rotation:{row.pk}", detail=detail, channel=channel)
    return made


def withdraw(rotation_id: UUID, override_id: UUID, *, actor: Actor, channel: str = "") -> None:
    """End an override now; votes given under it stay. Raises Refusal 404."""
    row = found(rotation_id)
    made = open_overrides(row).filter(pk=override_id).first()
    if made is None:
        raise not_found(_("There is no such override."))
    made.withdrawn_at = clock.now()
    made.save(update_fields=["withdrawn_at"])
    stamps.bump()
    detail = {"rotation": row.name, "override": str(made.pk)}
    audit.record("override.withdrawn", actor=actor, target=f"rotation:{row.pk}", detail=detail, channel=channel)


def found(rotation_id: UUID) -> Rotation:
    """The rotation with this id; raises Refusal 404."""
    row = Rotation.objects.filter(pk=rotation_id, archived_at__isnull=True).first()
    if row is None:
        raise not_found(_("There is no such rotation."))
    return row


def open_overrides(row: Rotation) -> Any:
    """The overrides that have not ended, by their beginning."""
    rows = RotationOverride.objects.filter(rotation=row, withdrawn_at__isnull=True, ends__gt=clock.now())
    return rows.order_by("starts", "id")


def users_of(row: Rotation) -> list[str]:
    """The names of the escalation policies that ask it."""
    every = EscalationPolicy.objects.filter(archived_at__isnull=True).order_by("name")
    return [each.name for each in every if any(str(row.pk) in one.get("rotations", ()) for one in each.levels)]


def written(row: Rotation) -> dict[str, Any]:
    """The rotation as it can be sent again."""
    return {
        "name": row.name,
        "zone": row.zone,
        "every": row.every,
        "handover": row.handover.strftime("%H:%M"),
        "first_day": row.first_day.isoformat(),
        "members": members_of(row),
    }


def members_of(row: Rotation) -> list[str]:
    """The ids of its members in their order."""
    places = sorted(row.places.all(), key=lambda place: place.position)
    return [str(place.member_id) for place in places]


def _write_places(row: Rotation, members: list[str]) -> None:
    RotationMember.objects.bulk_create(
        RotationMember(tenant_id=current(), rotation=row, member_id=UUID(member), position=position)
        for position, member in enumerate(members)
    )


def _validated(sent: Mapping[str, Any], *, of: Rotation | None = None) -> dict[str, Any]:
    wrong: list[dict[str, str]] = [
        {"field": field, "message": _("A rotation has no such field.")} for field in sent if field not in _FIELDS
    ]
    body: dict[str, Any] = {}
    for field, check in _CHECKS.items():
        try:
            body[field] = check(sent.get(field))
        except ValueError as error:
            wrong.append({"field": field, "message": str(error)})
    same = Rotation.objects.filter(name=body.get("name", ""), archived_at__isnull=True)
    if (same.exclude(pk=of.pk) if of else same).exists():
        wrong.append({"field": "name", "message": _("Another rotation has this name.")})
    if wrong:
        raise errors.fields(wrong, code="invalid_rotation")
    return body


def _wrong_period(
    row: Rotation, member: Member, starts: datetime, ends: datetime, *, now: datetime
) -> list[dict[str, str]]:
    wrong = []
    if not member.active or not member.has("reviewer"):
        wrong.append({"field": "member", "message": _("Only a reviewer can be on call.")})
    if ends <= starts:
        wrong.append({"field": "until", "message": _("The end comes after the beginning.")})
    elif ends <= now:
        wrong.append({"field": "until", "message": _("The end lies in the past.")})
    for name, at in (("from", starts), ("until", ends)):
        if times.too_far(at, now=now):
            wrong.append({"field": name, "message": _("This lies more than ten years away.")})
    if open_overrides(row).count() >= MAX_OVERRIDES:
        wrong.append({"field": "from", "message": _("There are too many overrides. End some.")})
    return wrong


def _zone(value: Any) -> str:
    if not isinstance(value, str) or value not in available_timezones():
        raise ValueError(_("This is not the name of a time zone."))
    return value


def _every(value: Any) -> str:
    if not isinstance(value, str) or value not in rotas.DAYS:
        raise ValueError(_("One of these is wanted: %(choices)s.") % {"choices": ", ".join(rotas.DAYS)})
    return value


def _handover(value: Any) -> time:
    try:
        found = time.fromisoformat(value) if isinstance(value, str) and len(value) == 5 else None
    except ValueError:
        found = None
    if found is None:
        raise ValueError(_("A time such as 09:00 is wanted."))
    return found


def _first_day(value: Any) -> date:
    try:
        found = date.fromisoformat(value) if isinstance(value, str) and len(value) == 10 else None
    except ValueError:
        found = None
    if found is None:
        raise ValueError(_("A date such as 2026-12-24 is wanted."))
    if abs(found - clock.now().date()) > timedelta(days=3660):
        raise ValueError(_("This lies more than ten years away."))
    return found


def _people(value: Any) -> list[str]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_MEMBERS:
        raise ValueError(_("A list of 1 to %(most)s members is wanted.") % {"most": MAX_MEMBERS})
    return [rule_bodies.member_id(str(each)) for each in value]


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "name": rule_bodies.name,
    "zone": _zone,
    "every": _every,
    "handover": _handover,
    "first_day": _first_day,
    "members": _people,
}


def _record(action: Action, row: Rotation, *, actor: Actor, channel: str) -> None:
    stamps.bump()
    audit.record(action, actor=actor, target=f"rotation:{row.pk}", detail=written(row), channel=channel)
