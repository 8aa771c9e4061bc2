"""Escalation policies: what an admin writes about who is asked next, and after how long."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from approvals import clock, errors, rule_bodies
from approvals.models import EscalationPolicy
from tenants import audit, stamps
from tenants.actors import Actor
from tenants.audit_names import Action
from tenants.refusals import not_found
from tenants.scope import current

MAX_LEVELS = 10
MAX_REPEATS = 10
LONGEST = 366 * 24 * 3600


_FIELDS = ("name", "levels", "repeats", "working_time", "calendar")


def create(*, actor: Actor, channel: str = "", **sent: Any) -> EscalationPolicy:
    """Make a policy in the tenant in scope: `name`, `levels`, `repeats`, `working_time`, `calendar`.

    `levels` is `[{after, groups, members, rotations}]`: seconds from the request's opening, of the clock or of the
    calendar's working time; groups and rotations by name or id, members by address or id. Raises Refusal 422 naming
    each field that cannot be used.
    """
    body = _validated(sent)
    row = EscalationPolicy.objects.create(tenant_id=current(), **body)
    _record("escalation_policy.created", row, actor=actor, channel=channel)
    return row


def change(policy_id: UUID, *, actor: Actor, changes: Mapping[str, Any], channel: str = "") -> EscalationPolicy:
    """Change a policy; requests that wait are looked through again. Raises Refusal 404 or 422."""
    row = found(policy_id)
    body = _validated({**written(row), **changes}, of=row)
    for name, value in body.items():
        setattr(row, name, value)
    row.save(update_fields=list(body))
    _record("escalation_policy.changed", row, actor=actor, channel=channel)
    return row


def archive(policy_id: UUID, *, actor: Actor, channel: str = "") -> None:
    """Let no new rule name the policy; requests that began with it keep its levels."""
    row = found(policy_id)
    row.archived_at = clock.now()
    row.save(update_fields=["archived_at"])
    _record("escalation_policy.archived", row, actor=actor, channel=channel)


def found(policy_id: UUID) -> EscalationPolicy:
    """The policy with this id; raises Refusal 404."""
    row = EscalationPolicy.objects.filter(pk=policy_id, archived_at__isnull=True).first()
    if row is None:
        raise not_found(_("There is no such escalation policy."))
    return row


def written(row: EscalationPolicy) -> dict[str, Any]:
    """The policy as it can be sent again."""
    return {**{name: getattr(row, name) for name in _FIELDS}, "calendar": row.calendar_id}


def _validated(sent: Mapping[str, Any], *, of: EscalationPolicy | None = None) -> dict[str, Any]:
    wrong: list[dict[str, str]] = []
    body: dict[str, Any] = {}
    for field, (column, check) in _CHECKS.items():
        try:
            body[column] = check(sent.get(field))
        except ValueError as error:
            wrong.append({"field": field, "message": str(error)})
    same = EscalationPolicy.objects.filter(name=body.get("name", ""), archived_at__isnull=True)
    if (same.exclude(pk=of.pk) if of else same).exists():
        wrong.append({"field": "name", "message": _("Another escalation policy has this name.")})
    if wrong:
        raise errors.fields(wrong, code="invalid_escalation_policy")
    return body


def _levels(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_LEVELS:
        raise ValueError(_("A list of 1 to %(most)s levels is wanted.") % {"most": MAX_LEVELS})
    levels = [_level(each) for each in value]
    times = [level["after"] for level in levels]
    if times != sorted(times):
        raise ValueError(_("Each level comes later than the one before it."))
    return levels


def _level(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or set(value) - {"after", "groups", "members", "rotations"}:
        raise ValueError(_("A level has after, groups, members and rotations."))
    after = rule_bodies.number(None, 0, LONGEST)(value.get("after"))
    groups = [rule_bodies.group_id(str(each)) for each in _list(value.get("groups"))]
    members = [rule_bodies.member_id(str(each)) for each in _list(value.get("members"))]
    rotations = [rule_bodies.rotation_id(str(each)) for each in _list(value.get("rotations"))]
    if not groups and not members and not rotations:
        raise ValueError(_("A level names at least one group, member or rotation."))
    return {"after": after, "groups": groups, "members": members, "rotations": rotations}


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(_("Groups, members and rotations are lists."))
    return value


_CHECKS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "name": ("name", rule_bodies.name),
    "levels": ("levels", _levels),
    "repeats": ("repeats", rule_bodies.number(0, 0, MAX_REPEATS)),
    "working_time": ("working_time", rule_bodies.boolean(False)),
    "calendar": ("calendar_id", rule_bodies.calendar_id),
}
"""Each field with the column it is kept in and what reads it."""


def _record(action: Action, row: EscalationPolicy, *, actor: Actor, channel: str) -> None:
    stamps.bump()
    detail = {**written(row), "calendar": str(row.calendar_id) if row.calendar_id else None}
    audit.record(action, actor=actor, target=f"escalation_policy:{row.pk}", detail=detail, channel=channel)
