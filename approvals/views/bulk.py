"""Many alike answered together: each is decided by itself, in a transaction of its own, with a result of its own."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.request import QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from approvals import access, acts, facts, writing
from approvals.decisions import Decided
from approvals.display import Shown, says, shown
from approvals.pages import bulk
from approvals.pages.bulk import BulkForm, Result
from approvals.rosters import roster
from approvals.views import reading
from approvals.views.kinds import tenant_request
from tenants import ids
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope

MOST = 100
STATES = {"changed": "changed", "expired": "expired", "not_found": "not_found"}


@require_http_methods(["GET", "HEAD", "POST"])
def compare(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """The page of comparison, or the answers that were given on it."""
    mine = tenant_request(request)
    if request.method != "POST":
        return _page(mine, _keys(request.GET), cut=_cut(request.GET))
    form = _form(request.POST)
    with scope(mine.tenant.pk):
        if form.errors:
            return _page(mine, _shown(request.POST), form=form, status=422)
    results = [_answer(mine, key, request.POST, form) for key in _keys(request.POST)]
    with scope(mine.tenant.pk, read_only=True):
        return _page(mine, [], results=results)


def _keys(sent: QueryDict) -> list[UUID]:
    found = [ids.parse(text) for text in sent.getlist("request")]
    return list(dict.fromkeys(key for key in found if key))[:MOST]


def _cut(sent: QueryDict) -> int:
    """How many were chosen, if that is more than are compared."""
    number = len({*sent.getlist("request")})
    return number if number > MOST else 0


def _shown(sent: QueryDict) -> list[UUID]:
    """All that stood on the page, chosen or not: each has its version there."""
    return [key for name in sent if name.startswith("version.") if (key := ids.parse(name[8:]))][:MOST]


def _form(sent: QueryDict) -> BulkForm:
    decision, reason = sent.get("decision", ""), sent.get("reason", "").replace("\r\n", "\n")
    errors = {}
    if decision not in ("approve", "reject"):
        errors[""] = _("Choose approve or reject.")
    elif decision == "reject" and not says(reason):
        errors["reason"] = _("Write a reason. The agent needs it to do better.")
    elif decision == "reject" and (wrong := writing.wrong(reason, limit=writing.ANSWER)):
        errors["reason"] = wrong
    if not sent.getlist("request"):
        errors[""] = _("Select at least one request.")
    return BulkForm(_keys(sent), decision, reason, errors=errors)


def _answer(request: TenantRequest, key: UUID, sent: QueryDict, form: BulkForm) -> Result:
    version = sent.get(f"version.{key}", "")
    item = {
        "id": str(key),
        "decision": form.decision,
        "version": int(version) if version.isdecimal() and len(version) < 10 else None,
        "comment": form.reason if form.decision == "reject" else "",
    }
    try:
        done = acts.decide_item(item, tenant=request.tenant.pk, actor=request.actor, channel="bulk")
    except Refusal as refusal:
        known = refusal.code if refusal.code in STATES else ""
        decided = "decided" if refusal.code in ("already_decided", "already_answered", "cancelled") else "refused"
        return Result(
            _title(request, key), STATES.get(known, decided), str(refusal.detail), _url(request, key, refusal)
        )
    state = done.request.status if done.request.status in ("approved", "rejected") else "waits"
    return Result(_title(request, key), state, _words(done), f"/t/{request.tenant.slug}/requests/{key}/")


def _words(done: Decided) -> str:
    status = done.request.status
    if status == "approved":
        return _("It runs now.")
    return _("It is not run.") if status == "rejected" else _("Your approval counts. More are needed before it runs.")


def _url(request: TenantRequest, key: UUID, refusal: Refusal) -> str:
    return "" if refusal.status == 404 else f"/t/{request.tenant.slug}/requests/{key}/"


def _title(request: TenantRequest, key: UUID) -> Shown:
    with scope(request.tenant.pk, read_only=True):
        row = access.readable(request.member).filter(pk=key).first()
        return shown(row.versions.get(number=row.version).title if row else str(key))


def _page(
    request: TenantRequest,
    keys: Sequence[UUID],
    *,
    form: BulkForm | None = None,
    results: Sequence[Result] = (),
    status: int = 200,
    cut: int = 0,
) -> HttpResponse:
    reader = reading.reader_of(request)
    rows = {row.pk: row for row in access.readable(request.member).filter(pk__in=keys)}
    names = roster()
    found = facts.of([rows[key] for key in keys if key in rows], names)
    form = form or BulkForm()
    view = bulk.build(found, names, reader, form, url=f"{reader.base}inbox/bulk/", results=results)
    left = len(keys) - sum(each.request.status == "pending" for each in found)
    context = {"view": replace(view, left=left, cut=cut), "form": form, "section": "inbox"}
    return reading.uncached(render(request, "inbox/bulk.html", context, status=status))
