"""The page of the audit: narrowed, read by keyset, checked, exported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals.pages import audit as shapes
from tenants import audit_log, ids, keys, pages, signing, streaming
from tenants.models import ApiKey, AuditEntry, Member
from tenants.paging import page
from tenants.refusals import not_found
from tenants.requests import TenantRequest

HERE = "audit/"
SIZE = 50
WINDOW = timedelta(days=90)
MATCHES = 50
KINDS: Mapping[str, tuple[str | Promise, tuple[str, ...]]] = {
    "decisions": (gettext_lazy("Decisions"), ("approval.",)),
    "refusals": (gettext_lazy("Refusals"), ()),
    "runs": (gettext_lazy("Runs"), ("run.", "runs.")),
    "settings": (
        gettext_lazy("Rules and people"),
        (
            *("policy.", "escalation_policy.", "calendar.", "rotation.", "override.", "group.", "member.", "key."),
            *("settings.", "agent.", "tool.", "delegation.", "tenant."),
        ),
    ),
    "channels": (
        gettext_lazy("Webhooks, chat and notices"),
        ("channel.", "callback.", "delivery.", "notices."),
    ),
    "sign_ins": (gettext_lazy("Sign-ins"), ("person.",)),
}


@dataclass(frozen=True)
class Filters:
    """What the page is narrowed to, as it was typed."""

    who: str = ""
    what: str = ""
    from_: str = ""
    to: str = ""
    whats: Sequence[tuple[str, str]] = ()
    searched: str = ""
    about: str = ""
    """The one thing, as `kind:id`, whose entries are read."""
    about_words: str = ""


@dataclass(frozen=True)
class Link:
    """A link with its words."""

    label: str
    url: str


@dataclass(frozen=True)
class Record:
    """Something else that is kept and may be taken away whole."""

    name: str
    about: str
    links: Sequence[Link]


@dataclass(frozen=True)
class Paging:
    """Where the list goes on."""

    next_url: str = ""
    previous_url: str = ""


@dataclass(frozen=True)
class AuditView:
    """The whole page."""

    url: str
    chain: shapes.ChainView | None
    verify_url: str
    exports: Sequence[Link]
    records: Sequence[Record]
    filters: Filters
    entries: Sequence[shapes.EntryLine]
    page: Paging
    public_key: str
    entry: shapes.EntryView | None = None


@require_safe
@never_cache
@pages.only("admin")
def show(request: TenantRequest, **_names: object) -> HttpResponse:
    """The entries, newest first, and one of them in full."""
    url, filters = pages.base(request) + HERE, _filters(request.GET)
    found = page(narrowed(filters), by=["-seq"], cursor=request.GET.get("cursor"), limit=SIZE)
    query = _query(filters)
    base = pages.base(request)
    view = AuditView(
        url=url,
        chain=shapes.chain(asked="verify" in request.GET),
        verify_url=f"{url}?{query}verify=1",
        exports=_links(f"{url}export/?{query}"),
        records=_records(base),
        filters=replace(filters, about_words=shapes.about(filters.about)),
        entries=shapes.lines(audit_log.shown(found.items), request.member, base, query),
        page=Paging(
            next_url=f"{url}?{query}{urlencode({'cursor': found.next})}" if found.next else "",
            previous_url=f"{url}?{query}".rstrip("?&") if request.GET.get("cursor") else "",
        ),
        public_key=signing.public_key(),
        entry=_entry(request.GET.get("entry", ""), base),
    )
    return render(request, "audit/audit.html", {"view": view, "section": "audit"})


@require_safe
@pages.only("admin")
def export(request: TenantRequest, **_names: object) -> HttpResponseBase:
    """All entries the page is narrowed to, oldest first, with what proves them."""
    form = streaming.form(request.GET.get("format", ""))
    filters = _filters(request.GET)
    rows = audit_log.all_entries(request.tenant.pk, narrow=lambda: narrowed(filters))
    return streaming.export(rows, name="audit", form=form, columns=audit_log.COLUMNS)


def _records(base: str) -> list[Record]:
    exports = f"{base}exports/"
    return [
        Record(_("Events"), _("The story of every run, event by event."), _links(f"{exports}events/?")),
        Record(
            _("Approval requests"),
            _("Every question with its answers, as the API tells it. Sensitive values are masked."),
            _links(f"{exports}requests/?"),
        ),
    ]


def _links(address: str) -> list[Link]:
    forms = (("ndjson", _("Export NDJSON")), ("csv", _("Export CSV")))
    return [Link(label, f"{address}format={name}") for name, label in forms]


def narrowed(filters: Filters) -> "QuerySet[AuditEntry]":
    """The entries of the tenant in scope that the filters leave."""
    rows = audit_log.entries(since=_start(filters), until=_end(filters))
    if filters.what == "refusals":
        rows = rows.filter(refused=True)
    elif filters.what:
        kinds = Q()
        for beginning in KINDS[filters.what][1]:
            kinds |= Q(action__startswith=beginning)
        rows = rows.filter(kinds)
    if filters.about:
        rows = rows.filter(target=filters.about)
    return rows.filter(actor_id__in=_actors(filters.who)) if filters.who else rows


def _filters(given: Mapping[str, str]) -> Filters:
    what = given.get("what", "")
    found = Filters(
        who=given.get("who", "").replace("\0", "").strip()[:200],
        what=what if what in KINDS else "",
        from_=_day_text(given.get("from", "")),
        to=_day_text(given.get("to", "")),
        whats=[(value, str(words)) for value, (words, _actions) in KINDS.items()],
        about=_about(given.get("about", "")),
    )
    bounded = (found.who or found.what) and not found.from_
    return replace(found, searched=_("Searched: the last 90 days.") if bounded else "")


def _about(text: str) -> str:
    kind, _colon, key = text.partition(":")
    return f"{kind}:{found}" if (found := ids.parse(key)) and kind.isidentifier() else ""


def _day_text(text: str) -> str:
    return text if _day(text) else ""


def _day(text: str) -> date | None:
    try:
        return parse_date(text)
    except ValueError:
        return None


def _start(filters: Filters) -> datetime | None:
    day = _day(filters.from_)
    if day is None:
        return timezone.now() - WINDOW if filters.who or filters.what else None
    return timezone.make_aware(datetime.combine(day, time()))


def _end(filters: Filters) -> datetime | None:
    day = _day(filters.to)
    if day is None or day == date.max:
        return None
    return timezone.make_aware(datetime.combine(day + timedelta(days=1), time()))


def _actors(who: str) -> list[str]:
    """The ids of the persons and keys of this name or address, or of the keys of this mark."""
    if marked := keys.marked(who):
        return [str(key) for key in marked]
    people = Member.objects.filter(Q(person__name__icontains=who) | Q(person__email__icontains=who))
    persons = [str(key) for key in people.values_list("person_id", flat=True)[:MATCHES]]
    named = ApiKey.objects.filter(Q(name__icontains=who) | Q(owner__in=people)).values_list("pk", flat=True)
    return [*persons, *(str(key) for key in named[:MATCHES])]


def _query(filters: Filters) -> str:
    """The filters for an address, with an & behind them."""
    whole = {"who": filters.who, "what": filters.what, "about": filters.about}
    given = {**whole, "from": filters.from_, "to": filters.to}
    text = urlencode({name: value for name, value in given.items() if value})
    return f"{text}&" if text else ""


def _entry(text: str, base: str) -> shapes.EntryView | None:
    if not text:
        return None
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
    row = AuditEntry.objects.filter(seq=number).first()
    if row is None:
        raise not_found(_("There is no such entry."))
    told: dict[str, Any] = audit_log.shown([row])[0]
    return shapes.entry(row, told, base)
