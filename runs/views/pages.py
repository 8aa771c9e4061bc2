"""The addresses of a run and of the outcome desk: parse, ask, answer."""

from collections.abc import Callable, Mapping

from django.http import HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from approvals.display import says
from approvals.pages.written import AnswerForm
from runs import access, askings, commands, payloads, telling
from runs.models import Payload, Run
from runs.outcomes import as_json
from runs.views.desk import Place, desk
from runs.views.desk_shapes import SettleForm
from runs.views.story import story
from tenants import events, ids
from tenants.models import Member
from tenants.pages import done
from tenants.refusals import Refusal, forbidden, invalid, not_found
from tenants.requests import TenantRequest
from tenants.scope import scope

PARTS = ("header", "steps")
FIELDS = {"note", "result", "outcome"}
RECORDED: Mapping[str, str | Promise] = {
    "completed": gettext_lazy("Recorded: it happened."),
    "not_done": gettext_lazy("Recorded: it did not happen, and is left."),
    "do_again": gettext_lazy("Recorded: it did not happen. It is done again, after all checks."),
}
"""What the desk says once: the next call that stands there may have the same name."""
Act = Callable[[TenantRequest, Run], Run]
May = Callable[[Member, Run], bool]


@require_safe
@never_cache
def run(request: TenantRequest, run_id: str, **_names: object) -> HttpResponse:
    """A run's page, or one of its parts."""
    found = ids.parse(run_id)
    told = events.last_seq(askings.subject(found)) if found else 0  # First: what is told of later, the page hears of.
    return _page(request, access.found(request.member, found), part=request.GET.get("part", ""), told=told)


@require_safe
@never_cache
def result(request: TenantRequest, run_id: str, seq: int, **_names: object) -> HttpResponseBase:
    """A step's whole result, as plain text."""
    found = access.found(request.member, ids.parse(run_id))
    step = telling.steps_of(found.id).filter(seq=seq).first()
    wide = telling.detail(found, [step]).text(seq, "result") if step else None
    if wide is None:
        raise not_found(_("This step has no result."))
    if wide.payload is None:
        return _plain(wide.body)
    try:
        with payloads.content_of(Payload.objects.get(id=wide.payload)) as content:
            return _plain(content.read().decode(errors="replace"))
    except payloads.Missing:
        raise not_found(_("The storage no longer has this payload."), code="payload_gone") from None


@require_POST
def cancel(request: TenantRequest, run_id: str, **_names: object) -> HttpResponse:
    """Stop further steps."""
    return _act(
        request,
        run_id,
        lambda asked, found: commands.cancel(found.id, actor=asked.actor, channel="page"),
        may=access.may_cancel,
    )


@require_POST
def pause(request: TenantRequest, run_id: str, **_names: object) -> HttpResponse:
    """Start nothing more until resumed."""
    return _act(
        request,
        run_id,
        lambda asked, found: commands.pause(found.id, actor=asked.actor, channel="page"),
        may=access.may_operate,
    )


@require_POST
def retry(request: TenantRequest, run_id: str, **_names: object) -> HttpResponse:
    """Try again what failed the run."""
    return _act(
        request,
        run_id,
        lambda asked, found: commands.retry(found.id, actor=asked.actor, channel="page"),
        may=access.may_operate,
    )


@require_POST
def resume(request: TenantRequest, run_id: str, **_names: object) -> HttpResponse:
    """Go on, with more tokens where these had run out."""

    def act(asked: TenantRequest, found: Run) -> Run:
        budget = _budget(asked.POST.get("tokens", ""))
        return commands.resume(found.id, actor=asked.actor, budget=budget, channel="page")

    return _act(request, run_id, act, may=access.may_operate)


@require_POST
def comment(request: TenantRequest, run_id: str, **_names: object) -> HttpResponse:
    """Say something beside the run."""

    text = str(request.POST.get("text", "")).strip().replace("\r\n", "\n")

    def act(asked: TenantRequest, found: Run) -> Run:
        if not text:
            raise invalid(_("Write the comment first."))
        return commands.comment(found.id, text=text, actor=asked.actor, channel="page")

    return _act(request, run_id, act, typed=text)


@require_safe
@never_cache
def outcomes(request: TenantRequest, **_names: object) -> HttpResponse:
    """The outcome desk."""
    return _desk(request, Place.read(request.GET.get("step", "")), SettleForm())


@require_safe
def outcome(request: TenantRequest, place: str, **_names: object) -> HttpResponse:
    """One outcome's own address leads to the desk with it open."""
    return HttpResponseRedirect(f"{_base(request)}outcomes/?step={place}")


@require_POST
def settle(request: TenantRequest, place: str, **_names: object) -> HttpResponse:
    """Settle one outcome."""
    chosen = Place.read(place)
    form = SettleForm(
        outcome=request.POST.get("outcome", ""),
        note=request.POST.get("note", "").replace("\r\n", "\n"),
        result=request.POST.get("result", "").replace("\r\n", "\n"),
        no_result=bool(request.POST.get("no_result")),
    )
    try:
        _settle(request, chosen, form)
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        request.refusal = refusal
        errors = {"": str(refusal.detail)} if not refusal.errors else _errors(refusal)
        with scope(request.tenant.pk, read_only=True):
            return _desk(request, chosen, SettleForm(**{**vars(form), "errors": errors}), status=refusal.status)
    return done(request, "outcomes/", str(RECORDED[form.outcome]))


def _settle(request: TenantRequest, place: Place | None, form: SettleForm) -> None:
    with scope(request.tenant.pk):
        found = access.found(request.member, place.run if place else None)
        access.demand_operate(request.member, found)
        errors = _missing(form)
        if errors or place is None:
            raise invalid(_("Nothing was recorded."), errors=errors)
        commands.settle(
            found.id,
            place.seq,
            outcome=form.outcome,
            result=as_json(form.result) if form.outcome == "completed" else "",
            note=form.note.strip(),
            actor=request.actor,
            channel="page",
        )


def _missing(form: SettleForm) -> list[dict[str, str]]:
    errors = []
    if form.outcome not in ("completed", "not_done", "do_again"):
        errors.append({"field": "outcome", "message": _("Choose what came of it.")})
    if not says(form.note):
        errors.append({"field": "note", "message": _("Say how you know. It is kept in the audit log.")})
    if form.outcome == "completed" and says(form.result) == form.no_result:
        twice = _("There is a result here, and a tick that there is none. Only one of the two can be.")
        unsaid = _("Write the result that the call gave, or tick that there is none to give.")
        errors.append({"field": "result", "message": twice if form.no_result else unsaid})
    return errors


def _act(
    request: TenantRequest, run_id: str, act: Act, *, may: May | None = None, typed: str | None = None
) -> HttpResponse:
    """Do it in a scope and go back to the run's page; a refusal comes back on the page, with its status."""
    try:
        with scope(request.tenant.pk):
            found = access.found(request.member, ids.parse(run_id))
            if may and not may(request.member, found):
                raise forbidden(_("Only a manager may do this."))
            act(request, found)
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        request.refusal = refusal
        with scope(request.tenant.pk, read_only=True):
            again = access.found(request.member, ids.parse(run_id))
            if typed is None:
                return _page(request, again, error=str(refusal.detail), status=refusal.status)
            form = AnswerForm(comment=typed, comment_error=str(refusal.detail))
            return _page(request, again, form=form, status=refusal.status)
    return HttpResponseRedirect(f"{_base(request)}runs/{found.id}/", status=303)


def _page(
    request: TenantRequest,
    found: Run,
    *,
    part: str = "",
    error: str = "",
    form: AnswerForm | None = None,
    status: int = 200,
    told: int | None = None,
) -> HttpResponse:
    name = f"runs/run.html#{part}" if part in PARTS else "runs/run.html"
    view = story(found, member=request.member, base=_base(request), told=told)
    return render(
        request, name, {"view": view, "error": error, "form": form or AnswerForm(), "section": "runs"}, status=status
    )


def _desk(request: TenantRequest, place: Place | None, form: SettleForm, *, status: int = 200) -> HttpResponse:
    view = desk(request.member, base=_base(request), chosen=place)
    context = {"view": view, "form": form, "section": "outcomes"}
    return render(request, "runs/outcomes.html", context, status=status)


def _errors(refusal: Refusal) -> dict[str, str]:
    found = {str(each.get("field", "")): str(each.get("message", "")) for each in refusal.errors}
    return {name if name in FIELDS else "": words for name, words in found.items()}


def _budget(text: str) -> dict[str, int] | None:
    tokens = text.strip().replace(",", "").replace(" ", "")
    if not tokens:
        return None
    if not tokens.isdecimal() or not 0 < int(tokens) < 2**53:
        raise invalid(_("Write the number of tokens as digits."))
    return {"tokens": int(tokens)}


def _plain(text: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _base(request: TenantRequest) -> str:
    return f"/t/{request.tenant.slug}/"
