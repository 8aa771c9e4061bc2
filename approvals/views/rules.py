"""The pages of rules: the list, one rule as a form with its trial, its versions."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals import durations, rule_bodies, rule_forms, rule_warnings, rules, trials
from approvals.models import PolicyRule
from approvals.pages import rules as shapes
from approvals.pages.rules import HERE, RuleView
from approvals.pages.trials import TrialView, trial_view
from approvals.rule_forms import RuleForm
from tenants import pages
from tenants.refusals import Refusal, not_found
from tenants.requests import TenantRequest
from tenants.scope import scope

READS_OR_SENDS = ["GET", "HEAD", "POST"]


@require_safe
@pages.only("admin")
def every(request: TenantRequest, **_names: object) -> HttpResponse:
    """The rules in their order."""
    view = shapes.listed(pages.base(request))
    return pages.page(request, "settings/rules.html", {"view": view}, section="tools", here=HERE)


@require_http_methods(READS_OR_SENDS)
@pages.only("admin")
def new(request: TenantRequest, **_names: object) -> HttpResponse:
    """A rule that is not there yet: tried, kept as a draft, or made live."""
    base = pages.base(request)
    if request.method != "POST":
        return _page(request, shapes.new(base), RuleForm(initial=rule_forms.blank()))
    with pages.read(request):
        form = RuleForm(request.POST)
        view = shapes.new(base, name=request.POST.get("name", "").strip()[:200])
        if not form.is_valid():
            return _page(request, view, form, status=422)
        if request.POST.get("do") == "trial":
            return _tried(request, form, None)
        uncovered = _uncovered(request, form, None)
        if isinstance(uncovered, HttpResponse):
            return uncovered
    try:
        rule = _create(request, form, uncovered)
    except Refusal as refusal:
        return _refused(request, refusal, form, view)
    return _done(request, rule)


@require_http_methods(READS_OR_SENDS)
@pages.only("admin")
def one(request: TenantRequest, rule_id: UUID, **_names: object) -> HttpResponse:
    """A rule: read, tried, written anew."""
    with pages.read(request):
        rule = _found(rule_id)
        view = shapes.one(rule, pages.base(request))
        if request.method != "POST":
            return _page(request, view, _form_of(rule))
        form = RuleForm(request.POST, is_default=rule.is_default)
        if not form.is_valid():
            return _page(request, view, form, status=422)
        if request.POST.get("do") == "trial":
            return _tried(request, form, rule)
        uncovered = _uncovered(request, form, rule)
        if isinstance(uncovered, HttpResponse):
            return uncovered
    try:
        changed = _change(request, rule, form, uncovered)
    except Refusal as refusal:
        return _refused(request, refusal, form, view)
    return _done(request, changed)


@require_POST
@pages.only("admin")
def restore(request: TenantRequest, rule_id: UUID, **_names: object) -> HttpResponse:
    """Make a version live: an earlier one, or the draft as it stands."""
    text = request.POST.get("version", "")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
    with pages.read(request):
        uncovered = _uncovered_again(request, _found(rule_id), number)
        if isinstance(uncovered, HttpResponse):
            return uncovered
    try:
        with scope(request.tenant.pk):
            rule = rules.publish(rule_id, actor=request.actor, number=number, uncovered=uncovered, channel="page")
    except Refusal as refusal:
        status = pages.refused(request, refusal)
        with pages.read(request):
            rule = _found(rule_id)
            form = RuleForm(rule_forms.initial(_last(rule)), is_default=rule.is_default)
            form.is_valid()
            form.refuse(refusal.errors or [{"field": "", "message": refusal.detail}])
            return _page(request, shapes.one(rule, pages.base(request)), form, status=status)
    return _done(request, rule)


@require_POST
@pages.only("admin")
def archive(request: TenantRequest, rule_id: UUID, **_names: object) -> HttpResponse:
    """Take the rule out of force, or a draft away that never was in force."""
    with scope(request.tenant.pk):
        found = _found(rule_id)
        rules.archive(rule_id, actor=request.actor, channel="page")
    said = _("The rule “%(name)s” is out of force.") if found.live else _("The draft of “%(name)s” is discarded.")
    return pages.done(request, HERE, said % {"name": found.name})


def _found(rule_id: UUID) -> PolicyRule:
    rule = PolicyRule.objects.filter(pk=rule_id, archived_at__isnull=True).first()
    if rule is None:
        raise not_found(_("There is no such rule."))
    return rule


def _last(rule: PolicyRule) -> dict[str, Any]:
    return dict(rule.versions.order_by("-number")[0].body)


def _form_of(rule: PolicyRule) -> RuleForm:
    return RuleForm(initial=rule_forms.initial(_last(rule), order=rule.position), is_default=rule.is_default)


def _create(request: TenantRequest, form: RuleForm, uncovered: int) -> PolicyRule:
    sent = form.cleaned_data
    with scope(request.tenant.pk):
        return rules.create_rule(
            actor=request.actor,
            draft=request.POST.get("do") != "live",
            order=sent["order"],
            note=sent["change"],
            uncovered=uncovered,
            channel="page",
            **form.body(),
        )


def _change(request: TenantRequest, rule: PolicyRule, form: RuleForm, uncovered: int) -> PolicyRule:
    """The next version; the draft itself where it was not touched and is to be live."""
    live = request.POST.get("do") == "live"
    with scope(request.tenant.pk):
        body, order = form.body(), form.cleaned_data.get("order")
        last = _last(rule)
        same = rule_bodies.validated(body, is_default=rule.is_default) == last and order in (None, rule.position)
        newest = rule.versions.order_by("-number").values_list("number", flat=True)[0]
        if same and live and rule.live != newest and not form.cleaned_data["change"]:
            return rules.publish(rule.pk, actor=request.actor, uncovered=uncovered, channel="page")
        changes = body if order is None else {**body, "order": order}
        return rules.change_rule(
            rule.pk,
            actor=request.actor,
            changes=changes,
            draft=not live,
            note=form.cleaned_data["change"],
            uncovered=uncovered,
            channel="page",
        )


def _tried(request: TenantRequest, form: RuleForm, rule: PolicyRule | None) -> HttpResponse:
    """The same page with the trial; nothing is saved."""
    base = pages.base(request)
    body: dict[str, Any] | None = None
    trial: TrialView | None = None
    status = 200
    try:
        body = rule_bodies.validated(form.body(), is_default=bool(rule and rule.is_default))
        trial = trial_view(trials.run(form.body(), replaces=rule.pk if rule else None))
    except Refusal as refusal:
        form.refuse(refusal.errors)
        status = refusal.status
    name = form.cleaned_data["name"]
    view = (
        shapes.one(rule, base, body=body, trial=trial) if rule else shapes.new(base, name=name, body=body, trial=trial)
    )
    return _page(request, view, form, status=status)


def _uncovered(request: TenantRequest, form: RuleForm, rule: PolicyRule | None) -> HttpResponse | int:
    """How many hours would be left without enough people were the rule live, 0 for a draft; or the page again with
    these hours, where nobody said that it may be live all the same."""
    if request.POST.get("do") != "live":
        return 0
    try:
        body = rule_bodies.validated(form.body(), is_default=bool(rule and rule.is_default))
    except Refusal:
        return 0  # Said when it is saved.
    return _gaps(request, form, rule, body)


def _uncovered_again(request: TenantRequest, rule: PolicyRule, number: int | None) -> HttpResponse | int:
    """The same for a version that is to be live as it is: the form has that version then."""
    version = rule.versions.filter(number=number).first() if number else None
    if version is None:
        return 0
    typed = rule_forms.initial(version.body, order=rule.position)
    form = RuleForm(
        {**typed, "response_timeout": durations.written(typed["response_timeout"])}, is_default=rule.is_default
    )
    form.is_valid()
    return _gaps(request, form, rule, version.body)


def _gaps(
    request: TenantRequest, form: RuleForm, rule: PolicyRule | None, body: Mapping[str, Any]
) -> HttpResponse | int:
    base = pages.base(request)
    view = shapes.one(rule, base, body=body) if rule else shapes.new(base, name=body["name"], body=body)
    hours = view.coverage.uncovered if view.coverage else 0
    if not hours or request.POST.get("uncovered"):
        return hours
    form.add_error(
        "uncovered", _("Tick this if it is to be live all the same, or change whom it asks or when it ends.")
    )
    return _page(request, view, form, status=422)


def _refused(request: TenantRequest, refusal: Refusal, form: RuleForm, view: RuleView) -> HttpResponse:
    if refusal.status == 404:
        raise refusal
    request.refusal = refusal
    form.refuse(refusal.errors or [{"field": "", "message": refusal.detail}])
    return _page(request, view, form, status=refusal.status)


def _done(request: TenantRequest, rule: PolicyRule) -> HttpResponse:
    words = {"name": rule.name, "n": rule.live}
    draft = request.POST.get("do") == "draft"
    said = _("The draft of “%(name)s” is kept.") if draft else _("Version %(n)s of “%(name)s” is live.")
    return pages.done(request, f"{HERE}{rule.pk}/", " ".join([said % words, *_warned(request, rule)]))


def _warned(request: TenantRequest, rule: PolicyRule) -> list[str]:
    """What is said beside "it is saved": names that nobody has stand in no error, for a rule may come first."""
    with pages.read(request):
        return rule_warnings.nobody(_last(rule))


def _page(request: TenantRequest, view: RuleView, form: RuleForm, *, status: int = 200) -> HttpResponse:
    context = {"view": view, "form": form}
    return pages.page(request, "settings/rule.html", context, section="tools", here=HERE, status=status)
