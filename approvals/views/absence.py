"""One's own absence: who answers in one's place, from when until when; an admin may say it for others."""

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext
from django.views.decorators.http import require_http_methods, require_POST

from approvals import absences, clock
from approvals.models import Delegation
from tenants import members, pages
from tenants.forms import Plain
from tenants.models import Member
from tenants.refusals import Refusal
from tenants.requests import TenantRequest
from tenants.scope import scope
from tenants.templatetags import look
from tenants.views.organisation import FormView

HERE = "settings/absence/"
MOST = 200
LOCAL = "%Y-%m-%dT%H:%M"


class AbsenceForm(Plain):
    """A stand-in and a period, in the reader's own zone."""

    member = forms.ChoiceField(label=gettext_lazy("Who is away"), required=False)
    to = forms.ChoiceField(label=gettext_lazy("Who answers instead"))
    starts = forms.DateTimeField(
        label=gettext_lazy("From"),
        required=False,
        input_formats=[LOCAL],
        help_text=gettext_lazy("Empty means now."),
        widget=forms.DateTimeInput(format=LOCAL, attrs={"type": "datetime-local", "class": "field short"}),
    )
    until = forms.DateTimeField(
        label=gettext_lazy("Until"),
        input_formats=[LOCAL],
        widget=forms.DateTimeInput(format=LOCAL, attrs={"type": "datetime-local", "class": "field short"}),
    )

    def __init__(self, *args: Any, reader: Member, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        found = Member.objects.filter(active=True).select_related("person").order_by("person__name", "id")
        every = [member for member in found if member.has("reviewer")]
        people = [(str(member.pk), member.name) for member in every]
        self.fields["to"].choices = [  # type: ignore[attr-defined]
            ("", _("Choose a reviewer")),
            *(pair for pair in people if pair[0] != str(reader.pk) or reader.has("admin")),
        ]
        if reader.has("admin"):
            mine = [("", _("%(name)s (you)") % {"name": reader.name})]
            others = [pair for pair in people if pair[0] != str(reader.pk)]
            self.fields["member"].choices = [*mine, *others]  # type: ignore[attr-defined]
        else:
            del self.fields["member"]


@require_http_methods(["GET", "HEAD", "POST"])
@pages.only(*pages.EVERYBODY)
def absence(request: TenantRequest, **_names: object) -> HttpResponse:
    """The periods that have not ended, and a new one."""
    with pages.read(request):
        if request.method != "POST":
            return _page(request, AbsenceForm(reader=request.member))
        form = AbsenceForm(request.POST, reader=request.member)
        if not form.is_valid():
            return _page(request, form, status=422)
    try:
        _delegate(request, form.cleaned_data)
    except Refusal as refusal:
        names = {"from": "starts"}
        refusal.errors = [{**each, "field": names.get(each["field"], each["field"])} for each in refusal.errors]
        return _page(request, form, status=pages.refused(request, refusal, form))
    return pages.done(request, HERE, _("Saved. What waits already is asked of the stand-in too, once the time begins."))


@require_POST
@pages.only(*pages.EVERYBODY)
def withdraw(request: TenantRequest, delegation_id: UUID, **_names: object) -> HttpResponse:
    """End a period now."""
    with scope(request.tenant.pk):
        absences.withdraw(delegation_id, actor=request.actor, by=request.member, channel="page")
    return pages.done(request, HERE, _("Ended. Votes that were given stay valid."))


def _delegate(request: TenantRequest, sent: dict[str, Any]) -> None:
    with scope(request.tenant.pk):
        away = members.member(UUID(sent["member"])) if sent.get("member") else request.member
        absences.delegate(
            actor=request.actor,
            member=away,
            to=members.member(UUID(sent["to"])),
            starts=sent["starts"],
            ends=sent["until"],
            channel="page",
        )


def _page(request: TenantRequest, form: AbsenceForm, *, status: int = 200) -> HttpResponse:
    with pages.read(request):
        rows = tuple(_row(each, request) for each in _shown(request.member))
    words = [_("While you are away another reviewer answers in your place, for the same groups. It is still one vote.")]
    view = FormView(
        title=_("My absence"),
        url=pages.base(request) + HERE,
        button=_("Let them answer"),
        words=tuple(words if rows else [*words, _("No absence is entered.")]),
        rows=rows,
        rows_title=_("Who stands in for whom"),
    )
    context = {"view": view, "form": form}
    return pages.page(request, "settings/form.html", context, section="settings", here=HERE, status=status)


def _shown(member: Member) -> list[Delegation]:
    rows = Delegation.objects.filter(withdrawn_at__isnull=True, ends__gt=clock.now())
    if not member.has("manager", "admin"):
        rows = rows.filter(member=member) | rows.filter(stand_in=member)
    return list(rows.select_related("member__person", "stand_in__person").order_by("starts", "id")[:MOST])


def _row(row: Delegation, request: TenantRequest) -> pages.Row:
    mine = row.member_id == request.member.pk or request.member.has("admin")
    words = {
        "who": row.stand_in.name,
        "start": look.when(row.starts),
        "end": look.when(row.ends),
    }
    return pages.Row(
        name=row.member.name,
        text=format_html(_("{who} answers, from {start} to {end}"), **words),
        badge=pgettext("absence", "now") if row.starts <= clock.now() else "",
        url=f"{pages.base(request)}{HERE}{row.pk}/end/" if mine else "",
        button=_("End it now"),
    )
