"""The API of rules: read, write, publish, archive, and try a draft on past calls."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from ninja import Router, Schema, Status
from pydantic import ConfigDict

from approvals import errors, rule_bodies, rule_warnings, rules, staffing, trials
from approvals.api.shapes import coverage, place
from approvals.models import PolicyRule, PolicyVersion
from approvals.requirements import Place
from approvals.rosters import Roster, roster
from tenants.bearer import demand
from tenants.refusals import not_found
from tenants.requests import KeyRequest
from tenants.scope import scope

router = Router(tags=["policies"])
Shape = dict[str, Any]


class RuleBody(Schema):
    """A rule, or what changes about one; `rule_bodies` says what is wrong with each field."""

    model_config = ConfigDict(extra="forbid")

    name: Any = None
    tools: Any = None
    agents: Any = None
    risks: Any = None
    when: Any = None
    outcome: Any = None
    approvals: Any = None
    of: Any = None
    answers: Any = None
    reason_required: Any = None
    escalation_policy: Any = None
    response_timeout: Any = None
    working_time: Any = None
    calendar: Any = None
    on_timeout: Any = None
    by_risk: Any = None
    order: Any = None
    draft: bool = False
    note: str = ""


class TrialBody(RuleBody):
    """A draft, and the rule it would replace."""

    replaces: UUID | None = None


class PublishBody(Schema):
    model_config = ConfigDict(extra="forbid")

    version: int | None = None


@router.get("/policies", summary="List the rules")
def list_rules(request: KeyRequest) -> Shape:
    """All rules in their order, the default last; each with its live and its last version."""
    demand(request, "settings:read")
    names = roster()
    found = PolicyRule.objects.filter(archived_at__isnull=True).prefetch_related("versions")
    rows = found.order_by("is_default", "position", "created_at", "id")
    return {"items": [_shape(row, names) for row in rows], "next": None}


@router.post("/policies", response={201: Any}, summary="Make a rule")
def create(request: KeyRequest, body: RuleBody) -> Status[Any]:
    """Live at once unless `draft` is true; 422 names each field that cannot be used."""
    bearer = demand(request, "settings:write", "admin")
    sent = body.model_dump(exclude_unset=True, exclude={"draft", "note", "order"})
    with scope(bearer.tenant):
        rule = rules.create_rule(
            actor=bearer.actor, draft=body.draft, note=body.note, order=_order(body), channel="api",
            **{"name": None, **sent},
        )  # fmt: skip
        return Status(201, _warned(rule))


@router.post("/policies/trials", summary="Try a draft on the calls of the last 30 days")
def trial(request: KeyRequest, body: TrialBody) -> Shape:
    """What the draft would have changed, with counts and examples; nothing is saved."""
    bearer = demand(request, "settings:read", "admin")
    draft = body.model_dump(exclude_unset=True, exclude={"draft", "note", "order", "replaces"})
    with scope(bearer.tenant):
        return trials.run({"name": "draft", **draft}, replaces=body.replaces)


@router.post("/policies/coverage", summary="See who could answer a draft")
def coverage_of_draft(request: KeyRequest, body: RuleBody) -> Shape:
    """Who could answer in the two weeks to come, and when they are too few; nothing is saved."""
    bearer = demand(request, "settings:read", "admin")
    draft = body.model_dump(exclude_unset=True, exclude={"draft", "note", "order"})
    with scope(bearer.tenant):
        return coverage(staffing.of(rule_bodies.validated({"name": "draft", **draft})))


@router.get("/policies/{uuid:rule_id}/coverage", summary="See who could answer a rule")
def coverage_of_rule(request: KeyRequest, rule_id: UUID) -> Shape:
    """Who could answer the rule's last version in the two weeks to come, and when they are too few."""
    demand(request, "settings:read", "admin")
    last = _found(rule_id).versions.order_by("-number")[0]
    return coverage(staffing.of(last.body))


@router.get("/policies/{uuid:rule_id}", summary="Read a rule")
def read(request: KeyRequest, rule_id: UUID) -> Shape:
    """One rule with its live and its last version."""
    demand(request, "settings:read")
    return _warned(_found(rule_id))


@router.get("/policies/{uuid:rule_id}/versions", summary="Read a rule's versions")
def versions(request: KeyRequest, rule_id: UUID) -> Shape:
    """Every version with its author, the newest first."""
    demand(request, "settings:read")
    rule, names = _found(rule_id), roster()
    rows = rule.versions.order_by("-number")
    return {"items": [_version(row, names) for row in rows], "next": None}


@router.patch("/policies/{uuid:rule_id}", summary="Change a rule")
def change(request: KeyRequest, rule_id: UUID, body: RuleBody) -> Shape:
    """Write the next version: the last one with these fields changed."""
    bearer = demand(request, "settings:write", "admin")
    changes = body.model_dump(exclude_unset=True, exclude={"draft", "note"})
    if "order" in changes:
        _order(body)
    with scope(bearer.tenant):
        rule = rules.change_rule(
            rule_id, actor=bearer.actor, changes=changes, draft=body.draft, note=body.note, channel="api"
        )
        return _warned(rule)


@router.post("/policies/{uuid:rule_id}/publish", summary="Make a version live")
def publish(request: KeyRequest, rule_id: UUID, body: PublishBody | None = None) -> Shape:
    """The last version, or an earlier one, which is so restored."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        number = body.version if body else None
        return _warned(rules.publish(rule_id, actor=bearer.actor, number=number, channel="api"))


@router.delete("/policies/{uuid:rule_id}", response={204: None}, summary="Take a rule out of force")
def archive(request: KeyRequest, rule_id: UUID) -> Status[None]:
    """Its versions stay. The default rule cannot go."""
    bearer = demand(request, "settings:write", "admin")
    with scope(bearer.tenant):
        rules.archive(rule_id, actor=bearer.actor, channel="api")
    return Status(204, None)


def _found(rule_id: UUID) -> PolicyRule:
    rule = PolicyRule.objects.filter(pk=rule_id, archived_at__isnull=True).first()
    if rule is None:
        raise not_found(_("There is no such rule."))
    return rule


def _order(body: RuleBody) -> int | None:
    if body.order is None:
        return None
    if not isinstance(body.order, int) or isinstance(body.order, bool) or not 0 <= body.order < 10**9:
        raise errors.field("order", _("A whole number from 0 is wanted."))
    return body.order


def _shape(rule: PolicyRule, names: Roster) -> Shape:
    """The rule by its live version, or by its last where none is live."""
    every = {row.number: row for row in rule.versions.all()}
    last = max(every)
    shown = every[rule.live or last]
    return {
        "id": rule.pk,
        "default": rule.is_default,
        "live": rule.live,
        "last": last,
        "draft": rule.live is None or last > rule.live,
        "order": rule.position,
        "created_at": rule.created_at,
        **_body(shown, names),
    }


def _warned(rule: PolicyRule) -> Shape:
    """The same of one rule, with what its last version says and might not mean: `warnings`, a list of sentences."""
    last = rule.versions.order_by("-number")[0]
    return {**_shape(rule, roster()), "warnings": rule_warnings.warnings(last.body)}


def _version(row: PolicyVersion, names: Roster) -> Shape:
    author = {"author": row.author, "note": row.note, "created_at": row.created_at}
    return {"version": row.number, **author, **_body(row, names)}


def _body(row: PolicyVersion, names: Roster) -> Shape:
    body = dict(row.body)
    body["of"] = [place(Place(**each), names) for each in body["of"]]
    return body
