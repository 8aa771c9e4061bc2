"""A tenant's rules: load what is live, and the writers that make, publish and archive versions of them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from approvals import clock, errors, policy, rule_bodies
from approvals.models import PolicyRule, PolicyVersion
from approvals.policy import Rule, RuleSet
from tenants import audit, stamps
from tenants.actors import Actor
from tenants.audit_names import Action
from tenants.refusals import not_found
from tenants.scope import current

DEFAULT_NAME = "Default"


def named(name: str) -> str:
    """A rule's name as it is read: the one that each tenant begins with has its name in each language."""
    return pgettext("rule", "Default") if name == DEFAULT_NAME else name


def load() -> RuleSet:
    """The live rules of the tenant in scope, in their order, with the stamp they were read at; two queries."""
    stamp = stamps.read()
    live = PolicyVersion.objects.filter(number=F("rule__live"), rule__archived_at__isnull=True)
    versions = list(live.select_related("rule").order_by("rule__position", "rule__created_at", "rule_id"))
    return RuleSet(
        rules=tuple(_rule(version) for version in versions if not version.rule.is_default),
        default=next((_rule(version) for version in versions if version.rule.is_default), policy.DEFAULT),
        stamp=stamp,
    )


def create_rule(
    *,
    actor: Actor,
    name: str,
    tools: Sequence[str] = ("*",),
    agents: Sequence[str] = ("*",),
    draft: bool = False,
    order: int | None = None,
    note: str = "",
    uncovered: int = 0,
    channel: str = "",
    **body: Any,
) -> PolicyRule:
    """Make a rule in the tenant in scope; it is live at once unless `draft`. `uncovered` is how many hours somebody
    said may be without enough people.

    `body` takes the fields of the contract: `risks`, `when`, `outcome`, `approvals`, `of` (`[{"group" | "member",
    "at_least"}]` by name, address or id), `answers`, `reason_required`, `escalation_policy`, `response_timeout`
    (seconds), `working_time`, `on_timeout`. Raises Refusal 422 with the fields that cannot be used.
    """
    written = rule_bodies.validated({"name": name, "tools": tools, "agents": agents, **body})
    rule = PolicyRule.objects.create(tenant_id=current(), name=name, position=_place(order))
    _add_version(rule, written, actor=actor, note=note)
    if not draft:
        rule.live = 1
        rule.save(update_fields=["live"])
        stamps.bump()
    detail = {"body": written, "draft": draft, **_said(uncovered)}
    _record("policy.created", rule, actor=actor, detail=detail, channel=channel)
    return rule


def change_rule(
    rule_id: UUID,
    *,
    actor: Actor,
    changes: Mapping[str, Any],
    draft: bool = False,
    note: str = "",
    uncovered: int = 0,
    channel: str = "",
) -> PolicyRule:
    """Write the rule's next version: its last one with `changes`; live at once unless `draft`."""
    rule = _found(rule_id)
    last = rule.versions.order_by("-number").first()
    before = dict(last.body) if last else {}
    written = rule_bodies.validated({**rule_bodies.as_written(before), **changes}, is_default=rule.is_default)
    version = _add_version(rule, written, actor=actor, note=note)
    rule.name = written["name"]
    if "order" in changes:
        rule.position = int(changes["order"])
    if not draft:
        rule.live = version.number
        stamps.bump()
    rule.save(update_fields=["name", "position", "live"])
    detail = {"body": written, "draft": draft, **_said(uncovered)}
    _record("policy.changed", rule, actor=actor, detail=detail, channel=channel)
    return rule


def publish(
    rule_id: UUID, *, actor: Actor, number: int | None = None, uncovered: int = 0, channel: str = ""
) -> PolicyRule:
    """Make a version live, by default the last; an earlier number restores it."""
    rule = _found(rule_id)
    versions = rule.versions.order_by("-number")
    version = versions.first() if number is None else versions.filter(number=number).first()
    if version is None:
        raise not_found(_("The rule has no such version."))
    rule_bodies.validated(rule_bodies.as_written(version.body), is_default=rule.is_default)
    rule.live, rule.name = version.number, version.body["name"]
    rule.save(update_fields=["live", "name"])
    stamps.bump()
    detail = {"version": version.number, **_said(uncovered)}
    _record("policy.published", rule, actor=actor, detail=detail, channel=channel)
    return rule


def archive(rule_id: UUID, *, actor: Actor, channel: str = "") -> None:
    """Take a rule out of force, or a draft away that never was in force; its versions stay. The default cannot go."""
    rule = _found(rule_id)
    if rule.is_default:
        raise errors.field("id", _("The default rule stays. Change it instead."), code="default_rule")
    PolicyRule.objects.filter(pk=rule.pk).update(archived_at=clock.now(), live=None)
    stamps.bump()
    detail = {"name": rule.name, **({"draft": True} if rule.live is None else {})}
    _record("policy.archived", rule, actor=actor, detail=detail, channel=channel)


def make_default(*, actor: Actor) -> PolicyRule:
    """The tenant's default rule, made with the tenant: it counts only where no other matches."""
    found = PolicyRule.objects.filter(is_default=True).first()
    if found:
        return found
    rule = PolicyRule.objects.create(
        tenant_id=current(), name=DEFAULT_NAME, position=2**31 - 1, is_default=True, live=1
    )
    body = rule_bodies.validated({"name": DEFAULT_NAME, "by_risk": dict(policy.DEFAULT.by_risk or {})}, is_default=True)
    _add_version(rule, body, actor=actor, note="")
    return rule


def live_bodies() -> list[dict[str, Any]]:
    """The bodies of the live rules; one query."""
    live = PolicyVersion.objects.filter(number=F("rule__live"), rule__archived_at__isnull=True)
    return [dict(body) for body in live.order_by("rule__position", "rule_id").values_list("body", flat=True)]


def groups_used() -> dict[str, list[str]]:
    """The live rules that ask each group."""
    found: dict[str, list[str]] = {}
    for body in live_bodies():
        for place in body["of"]:
            if place["kind"] == "group":
                found.setdefault(str(place["key"]), []).append(body["name"])
    return found


def _rule(version: PolicyVersion) -> Rule:
    return rule_bodies.rule_of(version.body, id=str(version.rule_id), version=version.number)


def _add_version(rule: PolicyRule, body: Mapping[str, Any], *, actor: Actor, note: str) -> PolicyVersion:
    last = rule.versions.order_by("-number").values_list("number", flat=True).first() or 0
    return PolicyVersion.objects.create(
        tenant_id=current(), rule=rule, number=last + 1, body=dict(body), author=actor.as_json(), note=note
    )


def _found(rule_id: UUID) -> PolicyRule:
    """The rule, locked: versions are numbered one after the other."""
    rule = PolicyRule.objects.select_for_update().filter(pk=rule_id, archived_at__isnull=True).first()
    if rule is None:
        raise not_found(_("There is no such rule."))
    return rule


def _place(order: int | None) -> int:
    if order is not None:
        return order
    last = PolicyRule.objects.filter(is_default=False).order_by("-position").values_list("position", flat=True).first()
    return (last or 0) + 10


def _said(uncovered: int) -> dict[str, int]:
    """What the audit says of a version that somebody made live although hours are left without enough people."""
    return {"uncovered_hours": uncovered} if uncovered else {}


def _record(action: Action, rule: PolicyRule, *, actor: Actor, detail: Mapping[str, Any], channel: str) -> None:
    audit.record(action, actor=actor, target=f"policy:{rule.pk}", detail=detail, channel=channel)
