"""The form of a rule: what an admin types, as the body that `approvals.rules` takes, and back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext_lazy as _

from approvals import durations
from approvals.calls import RISKS
from approvals.models import Calendar, EscalationPolicy
from approvals.requirements import ANSWERS
from approvals.rule_bodies import MAX_APPROVALS
from tenants.forms import Plain
from tenants.models import Group, Member

RISK_WORDS = {"low": _("low"), "medium": _("medium"), "high": _("high"), "critical": _("critical")}
ANSWER_WORDS = {
    "approve": _("approve"),
    "edit": _("edit"),
    "reject": _("reject"),
    "respond": _("answer in its place"),
}
OUTCOMES = (("allow", _("Allow")), ("require_approval", _("Ask people")), ("deny", _("Refuse")))
REASONS = (("", _("for high and critical risk")), ("yes", _("always")), ("no", _("never")))
SILENCES = (
    ("expire", _("expire: not run, agent told")),
    ("fail_run", _("fail the run")),
    ("approve", _("run it (low risk only)")),
)


class DurationField(forms.CharField):
    """A length of time, in seconds once it is clean."""

    def prepare_value(self, value: Any) -> Any:
        """The seconds as people write them; what was typed, as it was typed."""
        return durations.written(value) if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        """Raises ValidationError where the text is no length of time."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return durations.read(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


@dataclass(frozen=True)
class PlaceRow:
    """Somebody the rule may ask: the box, and how many of them there must be."""

    key: str
    name: str
    chosen: bool
    at_least: BoundField


class RuleForm(Plain):
    """A rule that is not the default. `places` are (key, name) of the groups and reviewers it may ask."""

    name = forms.CharField(label=_("Name"), max_length=200)
    tools = forms.CharField(label=_("Tools"), help_text=_("Names, with a space between two; * stands for any letters."))
    agents = forms.CharField(label=_("Agents"), help_text=_("As with tools."))
    risks = forms.MultipleChoiceField(
        label=_("Only for the risks"),
        choices=list(RISK_WORDS.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen means all."),
    )
    when = forms.CharField(
        label=_("Condition"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "code", "spellcheck": "false"}),
        help_text=_("CEL over args, tool, agent, run, initiator, labels, risk, now. Empty means always."),
    )
    outcome = forms.ChoiceField(label=_("What the rule demands"), choices=OUTCOMES, widget=forms.RadioSelect)
    approvals = forms.IntegerField(label=_("How many must approve"), min_value=1, max_value=MAX_APPROVALS)
    of = forms.MultipleChoiceField(label=_("of"), required=False, widget=forms.CheckboxSelectMultiple)
    answers = forms.MultipleChoiceField(
        label=_("Answers allowed"), choices=list(ANSWER_WORDS.items()), widget=forms.CheckboxSelectMultiple
    )
    reason_required = forms.ChoiceField(label=_("A rejection needs a reason"), choices=REASONS, required=False)
    escalation_policy = forms.ChoiceField(label=_("Who is asked as well, later"), required=False)
    response_timeout = DurationField(label=_("It ends after"))
    working_time = forms.BooleanField(label=_("Counted in working hours"), required=False)
    calendar = forms.ChoiceField(label=_("Working hours of"), required=False)
    on_timeout = forms.ChoiceField(label=_("If nobody answers"), choices=SILENCES)
    order = forms.IntegerField(label=_("Place in the list"), required=False, min_value=0, max_value=10**9 - 1)
    uncovered = forms.BooleanField(label=_("Hours that are not covered"), required=False)
    change = forms.CharField(
        label=_("What changes and why"), required=False, max_length=1000, widget=forms.Textarea(attrs={"rows": 2})
    )

    def __init__(self, *args: Any, is_default: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_default = is_default
        self.places = list(_places())
        self.fields["of"].choices = self.places  # type: ignore[attr-defined]
        for key, _name in self.places:
            self.fields[f"at_least.{key}"] = forms.IntegerField(
                label=_("at least"),
                required=False,
                min_value=0,
                max_value=MAX_APPROVALS,
                widget=forms.NumberInput(attrs={"class": "field short"}),
            )
        policies = EscalationPolicy.objects.filter(archived_at__isnull=True).order_by("name")
        choices = [("", _("nobody")), *((str(row.pk), row.name) for row in policies)]
        self.fields["escalation_policy"].choices = choices  # type: ignore[attr-defined]
        self.fields["calendar"].choices = calendar_choices()  # type: ignore[attr-defined]
        if is_default:
            self._be_the_default()

    def _be_the_default(self) -> None:
        for name in ("tools", "agents", "risks", "when", "outcome", "approvals", "of", "order"):
            del self.fields[name]
        self.places = []
        for name in [name for name in self.fields if name.startswith("at_least.")]:
            del self.fields[name]
        for risk in RISKS:
            label = _("Approvals for %(risk)s risk") % {"risk": RISK_WORDS[risk]}
            self.fields[f"by_risk.{risk}"] = forms.IntegerField(label=label, min_value=0, max_value=MAX_APPROVALS)

    def place_rows(self) -> Iterator[PlaceRow]:
        """Each group and reviewer, chosen or not."""
        chosen = set(self["of"].value() or ()) if "of" in self.fields else set()
        for key, name in self.places:
            yield PlaceRow(key, name, key in chosen, self[f"at_least.{key}"])

    def risk_rows(self) -> Iterator[BoundField]:
        """The default's fields, one a risk."""
        return (self[name] for name in self.fields if name.startswith("by_risk."))

    def body(self) -> dict[str, Any]:
        """What was typed as the body of a rule; only of a form that is valid."""
        sent = self.cleaned_data
        body: dict[str, Any] = {
            "name": sent["name"],
            "answers": sent["answers"],
            "reason_required": {"yes": True, "no": False}.get(sent["reason_required"]),
            "escalation_policy": sent["escalation_policy"] or None,
            "response_timeout": sent["response_timeout"],
            "working_time": sent["working_time"],
            "calendar": sent["calendar"] or None,
            "on_timeout": sent["on_timeout"],
        }
        if self.is_default:
            return {**body, "by_risk": {risk: sent[f"by_risk.{risk}"] for risk in RISKS}}
        return {
            **body,
            "tools": sent["tools"].replace(",", " ").split(),
            "agents": sent["agents"].replace(",", " ").split(),
            "risks": sent["risks"],
            "when": sent["when"].strip() or None,
            "outcome": sent["outcome"],
            "approvals": sent["approvals"],
            "of": [self._place(key) for key in sent["of"]],
        }

    def _place(self, key: str) -> dict[str, Any]:
        kind, _colon, named = key.partition(":")
        return {kind: named, "at_least": self.cleaned_data[f"at_least.{key}"] or 0}

    def refuse(self, errors: Sequence[Mapping[str, Any]]) -> None:
        """Put what `rules` refused beside the fields it is about."""
        for each in errors:
            name = "by_risk.low" if each["field"] == "by_risk" else str(each["field"])
            self.add_error(name if name in self.fields else None, str(each["message"]))


def initial(body: Mapping[str, Any], *, order: int | None = None) -> dict[str, Any]:
    """What the form shows of a stored body."""
    places = {f"{each['kind']}:{each['key']}": each["at_least"] for each in body["of"] if each["kind"] != "role"}
    return {
        **{name: body[name] for name in ("name", "when", "outcome", "approvals", "answers", "risks", "on_timeout")},
        "tools": " ".join(body["tools"]),
        "agents": " ".join(body["agents"]),
        "of": list(places),
        **{f"at_least.{key}": number or None for key, number in places.items()},
        "reason_required": {True: "yes", False: "no"}.get(body["reason_required"], ""),
        "escalation_policy": body["escalation_policy"] or "",
        "response_timeout": body["response_timeout"],
        "working_time": body["working_time"],
        "calendar": body.get("calendar") or "",
        "order": order,
        **{f"by_risk.{risk}": number for risk, number in (body.get("by_risk") or {}).items()},
    }


def blank() -> dict[str, Any]:
    """What the form of a new rule begins with."""
    return {
        "tools": "*",
        "agents": "*",
        "outcome": "require_approval",
        "approvals": 1,
        "answers": list(ANSWERS),
        "response_timeout": 24 * 3600,
        "on_timeout": "expire",
    }


def calendar_choices() -> list[tuple[str, Any]]:
    """The open calendars; none chosen is the default."""
    rows = Calendar.objects.filter(archived_at__isnull=True).order_by("name")
    return [("", _("the default calendar")), *((str(row.pk), row.name) for row in rows)]


def _places() -> Iterator[tuple[str, str]]:
    for group in Group.objects.order_by("name"):
        yield f"group:{group.pk}", group.name
    reviewers = Member.objects.filter(active=True, roles__contains=["reviewer"]).select_related("person")
    for member in reviewers.order_by("person__name", "id"):
        yield f"member:{member.pk}", member.name
