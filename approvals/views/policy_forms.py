"""The form of a rule: what an admin fills in, to and from the body that a rule is stored as."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from approvals.calls import RISKS
from approvals.models import EscalationPolicy
from approvals.requirements import ANSWERS, RESPONSE_TIMEOUT
from approvals.rosters import Roster

MINUTE = 60
OUTCOMES = {"allow": _("Allow"), "require_approval": _("Ask people"), "deny": _("Refuse")}
ANSWER_WORDS = {"approve": _("approve"), "edit": _("edit"), "reject": _("reject"), "respond": _("answer in its place")}
SILENCES = {
    "expire": _("Expire: not run, the agent is told"),
    "fail_run": _("Fail the run"),
    "approve": _("Run it (low risk only)"),
}
REASONS = {"": _("For high and critical risk"), "yes": _("Always"), "no": _("Never")}
RISK_WORDS = {"low": _("low"), "medium": _("medium"), "high": _("high"), "critical": _("critical")}
_REASON_VALUES = {"": None, "yes": True, "no": False}


class PolicyForm(forms.Form):
    """Any rule. `when_fields`, `then_fields` and `fast_fields` are the three parts of the page."""

    when_names: tuple[str, ...] = ("name", "tools", "agents", "risks", "when", "order")
    then_names: tuple[str, ...] = ("approvals", "of", "answers", "reason_required")
    fast_names: tuple[str, ...] = ("escalation_policy", "response_timeout", "working_time", "on_timeout")

    name = forms.CharField(label=_("Name"), max_length=200)
    tools = forms.CharField(label=_("Tools"), help_text=_("Names with spaces between; * stands for any characters."))
    agents = forms.CharField(label=_("Agents"), help_text=_("Names with spaces between; * stands for any characters."))
    risks = forms.MultipleChoiceField(
        label=_("Only for these risks"),
        help_text=_("None chosen means all."),
        choices=list(RISK_WORDS.items()),
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    when = forms.CharField(
        label=_("and"),
        help_text=_("CEL over args, run, agent, tool, initiator, labels, risk, now. Where it cannot be read for a call,"
                    " an admin is asked."),
        widget=forms.Textarea(attrs={"rows": 2, "class": "field code", "spellcheck": "false"}),
        required=False,
    )  # fmt: skip
    order = forms.IntegerField(label=_("Place in the list"), min_value=0, max_value=10**9 - 1, required=False)
    outcome = forms.ChoiceField(label=_("Then"), choices=list(OUTCOMES.items()))
    approvals = forms.IntegerField(label=_("How many approve"), min_value=1, max_value=20, initial=1)
    of = forms.MultipleChoiceField(
        label=_("Of whom"),
        help_text=_("None chosen means any reviewer."),
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    answers = forms.MultipleChoiceField(
        label=_("Answers allowed"), choices=list(ANSWER_WORDS.items()), widget=forms.CheckboxSelectMultiple
    )
    reason_required = forms.ChoiceField(
        label=_("A rejection needs a reason"), choices=list(REASONS.items()), required=False
    )
    escalation_policy = forms.ChoiceField(label=_("Who is asked as well"), required=False)
    response_timeout = forms.IntegerField(label=_("It ends after, in minutes"), min_value=1, max_value=366 * 24 * 60)
    working_time = forms.BooleanField(label=_("Count working time only"), required=False)
    on_timeout = forms.ChoiceField(label=_("If nobody answers"), choices=list(SILENCES.items()))
    change = forms.CharField(
        label=_("What changes and why"), widget=forms.Textarea(attrs={"rows": 2}), max_length=2000, required=False
    )

    def __init__(self, *args: Any, names: Roster, before: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.before = dict(before or {})
        people = [(f"member:{each.id}", each.name) for each in names.people.values() if "reviewer" in each.roles]
        groups = [(f"group:{key}", name) for key, name in names.groups.items()]
        self._choices("of", [*sorted(groups, key=_word), *sorted(people, key=_word)])
        policies = EscalationPolicy.objects.filter(archived_at__isnull=True).order_by("name")
        found = [(str(row.pk), row.name) for row in policies]
        self._choices("escalation_policy", [("", _("Nobody")), *found])

    def when_fields(self) -> list[BoundField]:
        """What a call has to be."""
        return self._bound(self.when_names)

    def then_fields(self) -> list[BoundField]:
        """What is demanded then."""
        return self._bound(self.then_names)

    def fast_fields(self) -> list[BoundField]:
        """How fast, and what silence means."""
        return self._bound(self.fast_names)

    def body(self) -> dict[str, Any]:
        """The rule as `approvals.rules` takes it; only after `is_valid`."""
        said = self.cleaned_data
        kept = {f"{each['kind']}:{each['key']}": each["at_least"] for each in self.before.get("of", ())}
        minutes, seconds = said["response_timeout"], self.before.get("response_timeout")
        places = [(chosen, *chosen.split(":", 1)) for chosen in said["of"]]
        return {
            "name": said["name"],
            "tools": said["tools"].split(),
            "agents": said["agents"].split(),
            "risks": said["risks"],
            "when": said["when"].strip() or None,
            "outcome": said["outcome"],
            "approvals": said["approvals"],
            "of": [{kind: key, "at_least": kept.get(chosen, 0)} for chosen, kind, key in places],
            "answers": said["answers"],
            "reason_required": _REASON_VALUES[said["reason_required"]],
            "escalation_policy": said["escalation_policy"] or None,
            "response_timeout": seconds if seconds and seconds // MINUTE == minutes else minutes * MINUTE,
            "working_time": said["working_time"],
            "on_timeout": said["on_timeout"],
        }

    def _bound(self, names: Sequence[str]) -> list[BoundField]:
        return [self[name] for name in names if name in self.fields]

    def _choices(self, name: str, choices: list[tuple[str, Any]]) -> None:
        field = self.fields.get(name)
        if isinstance(field, forms.ChoiceField):
            field.choices = choices


class DefaultForm(PolicyForm):
    """The default rule: how many approvals each risk wants, and what counts for all of them."""

    when_names = ()
    then_names = ("low", "medium", "high", "critical", "answers", "reason_required")
    name = tools = agents = risks = when = order = outcome = approvals = of = None  # type: ignore[assignment]
    low, medium, high, critical = (
        forms.IntegerField(label=label, min_value=0, max_value=20, help_text=_("Approvals wanted; 0 runs it unasked."))
        for label in (_("Low risk"), _("Medium risk"), _("High risk"), _("Critical risk"))
    )

    def body(self) -> dict[str, Any]:
        """The changes of the default rule."""
        said = self.cleaned_data
        return {
            "by_risk": {risk: said[risk] for risk in RISKS},
            "answers": said["answers"],
            "reason_required": _REASON_VALUES[said["reason_required"]],
            "escalation_policy": said["escalation_policy"] or None,
            "response_timeout": said["response_timeout"] * MINUTE,
            "working_time": said["working_time"],
            "on_timeout": said["on_timeout"],
        }


def initial(body: Mapping[str, Any], *, position: int | None = None) -> dict[str, Any]:
    """What the form starts with: a stored body, or the usual one where that is empty."""
    reason = body.get("reason_required")
    return {
        "name": body.get("name", ""),
        "tools": " ".join(body.get("tools") or ["*"]),
        "agents": " ".join(body.get("agents") or ["*"]),
        "risks": body.get("risks") or [],
        "when": body.get("when") or "",
        "order": position,
        "outcome": body.get("outcome", "require_approval"),
        "approvals": body.get("approvals", 1),
        "of": [f"{each['kind']}:{each['key']}" for each in body.get("of", ())],
        "answers": body.get("answers") or list(ANSWERS),
        "reason_required": {None: "", True: "yes", False: "no"}[reason],
        "escalation_policy": body.get("escalation_policy") or "",
        "response_timeout": max(1, body.get("response_timeout", RESPONSE_TIMEOUT) // MINUTE),
        "working_time": bool(body.get("working_time")),
        "on_timeout": body.get("on_timeout", "expire"),
        **(body.get("by_risk") or {}),
    }


def _word(choice: tuple[str, str]) -> str:
    return choice[1].lower()
