"""Escalation policies: what an admin writes about who is asked next, and after how long."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from approvals import clock, errors, rule_bodies
from approvals.models import EscalationPolicy
from tenants import audit, stamps
from tenants.actors import Actor
from tenants.refusals import not_found
from tenants.scope import current

MAX_LEVELS = 10
MAX_REPEATS = 10
LONGEST = 366 * 24 * 3600


def create(*, actor: Actor, name: str, levels: Any, repeats: Any = 0, channel: str = "") -> EscalationPolicy:
    """Make a policy in the tenant in scope.

    `levels` is `[{after, groups, members}]`: seconds from the request's opening, groups by name or id, members by
    address or id. Raises Refusal 422 naming each field that cannot be used.
    """
    body = _validated({"name": name, "levels": levels, "repeats": repeats})
    row = EscalationPolicy.objects.create(tenant_id=current(), **body)
    _record("escalation_policy.created", row, actor=actor, channel=channel)
    return row


def change(policy_id: UUID, *, actor: Actor, changes: Mapping[str, Any], channel: str = "") -> EscalationPolicy:
    """Change a policy; requests that wait are looked through again. Raises Refusal 404 or 422."""
    row = found(policy_id)
    body = _validated({"name": row.name, "levels": row.levels, "repeats": row.repeats, **changes}, of=row)
    row.name, row.levels, row.repeats = body["name"], body["levels"], body["repeats"]
    row.save(update_fields=["name", "levels", "repeats"])
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


def _validated(sent: Mapping[str, Any], *, of: EscalationPolicy | None = None) -> dict[str, Any]:
    checks = {"name": _name, "levels": _levels, "repeats": _repeats}
    wrong: list[dict[str, str]] = []
    body: dict[str, Any] = {}
    for field, check in checks.items():
        try:
            body[field] = check(sent.get(field))
        except ValueError as error:
            wrong.append({"field": field, "message": str(error)})
    same = EscalationPolicy.objects.filter(name=body.get("name", ""), archived_at__isnull=True)
    if (same.exclude(pk=of.pk) if of else same).exists():
        wrong.append({"field": "name", "message": _("Another escalation policy has this name.")})
    if wrong:
        raise errors.fields(wrong, code="invalid_escalation_policy")
    return body


def _name(value: Any) -> str:
    return rule_bodies.name(value)


def _repeats(value: Any) -> int:
    return rule_bodies.number(0, 0, MAX_REPEATS)(value)


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
        raise ValueError(_("A level has after, groups and members."))
    if value.get("rotations"):
        raise ValueError(_("Rotations cannot be named yet. Name groups or members."))
    after = rule_bodies.number(None, 0, LONGEST)(value.get("after"))
    groups = [rule_bodies.group_id(str(each)) for each in _list(value.get("groups"))]
    members = [rule_bodies.member_id(str(each)) for each in _list(value.get("members"))]
    if not groups and not members:
        raise ValueError(_("A level names at least one group or member."))
    return {"after": after, "groups": groups, "members": members}


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(_("Groups and members are lists."))
    return value


def _record(action: str, row: EscalationPolicy, *, actor: Actor, channel: str) -> None:
    stamps.bump()
    detail = {"name": row.name, "levels": row.levels, "repeats": row.repeats}
    audit.record(action, actor=actor, target=f"escalation_policy:{row.pk}", detail=detail, channel=channel)
