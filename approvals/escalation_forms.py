"""The form of an escalation policy: as many levels as it has, and an empty one to add."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext_lazy as _

from approvals import escalation_policies
from approvals.escalation_policies import MAX_LEVELS, MAX_REPEATS
from approvals.models import EscalationPolicy, Rotation
from approvals.rule_forms import DurationField, calendar_choices
from tenants.forms import Plain
from tenants.models import Group, Member

KINDS = ("groups", "members", "rotations")


@dataclass(frozen=True)
class LevelRow:
    """The fields of one level."""

    number: int
    after: BoundField
    groups: BoundField
    members: BoundField
    rotations: BoundField


class EscalationForm(Plain):
    """A policy; a level without a time and without people is none."""

    name = forms.CharField(label=_("Name"), max_length=200)
    repeats = forms.IntegerField(
        label=_("Repeats"),
        min_value=0,
        max_value=MAX_REPEATS,
        help_text=_("How often all levels are gone through again."),
    )
    working_time = forms.BooleanField(label=_("Counted in working hours"), required=False)
    calendar = forms.ChoiceField(label=_("Working hours of"), required=False)

    def __init__(self, *args: Any, levels: int = 0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sent = sum(f"level{number}.after" in self.data for number in range(1, MAX_LEVELS + 1))
        self.levels = min(max(levels + 1, sent, 2), MAX_LEVELS)
        groups = [(str(row.pk), row.name) for row in Group.objects.order_by("name")]
        people = Member.objects.filter(active=True).select_related("person").order_by("person__name", "id")
        members = [(str(row.pk), row.name) for row in people if row.has("reviewer")]
        turns = [(str(row.pk), row.name) for row in Rotation.objects.filter(archived_at__isnull=True).order_by("name")]
        self.fields["calendar"].choices = calendar_choices()  # type: ignore[attr-defined]
        labels = (_("Groups"), _("Members"), _("On call"))
        kinds = list(zip(KINDS, labels, (groups, members, turns), strict=True))
        for number in range(1, self.levels + 1):
            self.fields[f"level{number}.after"] = DurationField(
                label=_("After"), required=False, widget=forms.TextInput(attrs={"class": "field short"})
            )
            for kind, label, choices in kinds:
                self.fields[f"level{number}.{kind}"] = forms.MultipleChoiceField(
                    label=label, choices=choices, required=False, widget=forms.CheckboxSelectMultiple
                )

    def level_rows(self) -> Iterator[LevelRow]:
        """The levels, the last one empty."""
        for number in range(1, self.levels + 1):
            yield LevelRow(number, *(self[f"level{number}.{kind}"] for kind in ("after", *KINDS)))

    def clean(self) -> dict[str, Any]:
        """Raises ValidationError beside the field of the level that is not whole."""
        sent = super().clean() or self.cleaned_data
        before = -1
        for number in range(1, self.levels + 1):
            after = sent.get(f"level{number}.after")
            people = any(sent.get(f"level{number}.{kind}") for kind in KINDS)
            if f"level{number}.after" in self.errors or (after is None and not people):
                continue
            if after is None:
                self.add_error(f"level{number}.after", _("Say after how long this level is asked."))
            elif not people:
                self.add_error(f"level{number}.members", _("A level names at least one group, member or rotation."))
            elif after < before:
                self.add_error(f"level{number}.after", _("Each level comes later than the one before it."))
            before = before if after is None else after
        return sent

    def body(self) -> dict[str, Any]:
        """The policy as `escalation_policies` takes it; only of a form that is valid."""
        sent = self.cleaned_data
        every = [
            {kind: sent[f"level{number}.{kind}"] for kind in ("after", *KINDS)} for number in range(1, self.levels + 1)
        ]
        levels = [level for level in every if level["after"] is not None]
        plain = {name: sent[name] for name in ("name", "repeats", "working_time")}
        return {**plain, "calendar": sent["calendar"] or None, "levels": levels}

    def refuse(self, errors: Sequence[Mapping[str, Any]]) -> None:
        """Put what was refused beside the field it is about."""
        for each in errors:
            name = {"levels": "level1.after"}.get(str(each["field"]), str(each["field"]))
            self.add_error(name if name in self.fields else None, str(each["message"]))


def initial(row: EscalationPolicy) -> dict[str, Any]:
    """What the form shows of a policy."""
    shown = escalation_policies.written(row)
    for number, level in enumerate(row.levels, start=1):
        for kind in ("after", *KINDS):
            shown[f"level{number}.{kind}"] = level.get(kind)
    return shown
