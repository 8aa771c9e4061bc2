"""The rules: their list, and one of them, tried on past calls before it is live."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals import clock, rules, trials
from approvals.models import PolicyRule
from approvals.pages import rule as pages
from approvals.rosters import Roster, roster
from approvals.views.policy_forms import DefaultForm, PolicyForm, initial
from tenants.pages import add_errors, admin_request, tabs
from tenants.refusals import Refusal, not_found
from tenants.requests import TenantRequest
from tenants.scope import scope


@require_safe
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """All rules in their order, the default last."""
    mine = admin_request(request)
    names, base = roster(), _base(slug)
    found = PolicyRule.objects.filter(archived_at__isnull=True).prefetch_related("versions")
    rows = [pages.row(each, names, base) for each in found.order_by("is_default", "position", "created_at", "id")]
    context = {
        "view": {"rules": rows, "new_url": f"{base}new/"},
        "section": "tools",
        "tabs": tabs(mine, "tools", "rules"),
    }
    return render(request, "settings/rules.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """A rule that is to be made."""
    mine = admin_request(request)
    if request.method != "POST":
        return _page(mine, None, PolicyForm(names=roster(), initial=initial({})))
    with scope(mine.tenant.pk):
        form = PolicyForm(request.POST, names=roster())
        return _do(mine, None, form)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str, rule_id: UUID) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """One rule: its last version, to be changed, tried and made live."""
    mine = admin_request(request)
    if request.method != "POST":
        rule = _found(rule_id)
        return _page(mine, rule, _form(rule, names=roster()))
    with scope(mine.tenant.pk):
        rule = _found(rule_id)
        return _do(mine, rule, _form(rule, request.POST, names=roster()))


@require_POST
def archive(request: HttpRequest, slug: str, rule_id: UUID) -> HttpResponse:
    """Take a rule out of force."""
    mine = admin_request(request)
    with scope(mine.tenant.pk):
        rules.archive(rule_id, actor=mine.actor, channel="page")
    return HttpResponseRedirect(_base(slug))


def _do(request: TenantRequest, rule: PolicyRule | None, form: PolicyForm) -> HttpResponse:
    """What the pressed button asks for; the page again with what is wrong where it cannot be done."""
    verb = request.POST.get("do")
    if form.is_valid():
        try:
            if verb == "trial" and not (rule and rule.is_default):
                told = trials.run(form.body(), replaces=rule.pk if rule else None)
                trial = pages.tried(told, now=clock.now(), base=f"/t/{request.tenant.slug}/")
                return _page(request, rule, form, trial=trial)
            if verb in ("draft", "live"):
                saved = _save(request, rule, form, draft=verb == "draft")
                return HttpResponseRedirect(f"{_base(request.tenant.slug)}{saved.pk}/")
        except Refusal as refusal:
            add_errors(form, refusal)
    return _page(request, rule, form, status=422 if form.errors else 200)


def _save(request: TenantRequest, rule: PolicyRule | None, form: PolicyForm, *, draft: bool) -> PolicyRule:
    body: Mapping[str, Any] = form.body()
    note, order = form.cleaned_data["change"], form.cleaned_data.get("order")
    if rule is None:
        return rules.create_rule(actor=request.actor, draft=draft, order=order, note=note, channel="page", **body)
    changes = {**body, **({} if order is None else {"order": order})}
    return rules.change_rule(rule.pk, actor=request.actor, changes=changes, draft=draft, note=note, channel="page")


def _form(rule: PolicyRule, data: Any = None, *, names: Roster) -> PolicyForm:
    last = rule.versions.order_by("-number").first()
    body = dict(last.body) if last else {}
    kind = DefaultForm if rule.is_default else PolicyForm
    return kind(data, names=names, before=body, initial=initial(body, position=rule.position))


def _found(rule_id: UUID) -> PolicyRule:
    found = PolicyRule.objects.filter(pk=rule_id, archived_at__isnull=True).prefetch_related("versions").first()
    if found is None:
        raise not_found(_("There is no such rule."))
    return found


def _page(
    request: TenantRequest,
    rule: PolicyRule | None,
    form: PolicyForm,
    *,
    trial: pages.TrialView | None = None,
    status: int = 200,
) -> HttpResponse:
    base = _base(request.tenant.slug)
    short = _short(form, roster())
    if rule is None:
        made = pages.RuleView(url=f"{base}new/", rules_url=base, name=_("new"), trial=trial, warnings=short)
    else:
        made = pages.view(rule, base, trial=trial, warnings=short)
    context = {"view": made, "form": form, "section": "tools", "tabs": tabs(request, "tools", "rules")}
    return render(request, "settings/rule.html", context, status=status)


def _short(form: PolicyForm, names: Roster) -> list[str]:
    """Whether the rule asks for more people than it names."""
    said = form.cleaned_data if form.is_bound and form.is_valid() else form.initial
    if said.get("outcome") != "require_approval" or not isinstance(said.get("approvals"), int):
        return []
    wanted, places = said["approvals"], set(said.get("of") or ())
    able = [
        each
        for each in names.people.values()
        if "reviewer" in each.roles
        and (not places or f"member:{each.id}" in places or any(f"group:{group}" in places for group in each.groups))
    ]
    if len(able) >= wanted:
        return []
    return [
        ngettext("One person could answer, %(wanted)s are needed.", "%(n)s people could answer, %(wanted)s are needed.",
                 len(able)) % {"n": len(able), "wanted": wanted}
    ]  # fmt: skip


def _base(slug: str) -> str:
    return f"/t/{slug}/settings/policies/"
