"""The forms of calendars and rotations: what an admin types, as `working_hours` and `rotations` take it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from approvals import free_days, week_texts
from approvals.rotations import MAX_MEMBERS
from tenants.forms import Plain
from tenants.models import Member

LOCAL = "%Y-%m-%dT%H:%M"
DAYS = {
    "monday": _("Monday"),
    "tuesday": _("Tuesday"),
    "wednesday": _("Wednesday"),
    "thursday": _("Thursday"),
    "friday": _("Friday"),
    "saturday": _("Saturday"),
    "sunday": _("Sunday"),
}
TURNS = (("week", pgettext_lazy("turn", "every week")), ("day", pgettext_lazy("turn", "every day")))


class HoursField(forms.CharField):
    """Spans of hours as text; clean, they are what the API takes."""

    widget = forms.TextInput(attrs={"class": "field short", "placeholder": ""})

    def prepare_value(self, value: Any) -> Any:
        """What was typed as it was typed, a list as text."""
        return week_texts.told_hours(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        """Raises ValidationError where the text names no hours."""
        try:
            spans = week_texts.read_hours(super().clean(value))
            return week_texts.written_hours(week_texts.hours(spans))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


class DaysField(forms.CharField):
    """Days of one's own, one a line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def prepare_value(self, value: Any) -> Any:
        """As above."""
        return week_texts.told_days(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        """Raises ValidationError where a line is no day."""
        try:
            return week_texts.written_days(week_texts.days(week_texts.read_days(super().clean(value))))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


class CalendarForm(Plain):
    """A calendar: zone, hours by weekday, holidays, days of one's own."""

    name = forms.CharField(label=_("Name"), max_length=200)
    zone = forms.ChoiceField(label=_("Time zone"), required=False)
    country = forms.ChoiceField(
        label=_("Public holidays of"),
        required=False,
        help_text=_("Nobody works on them; a day of your own below counts more."),
    )
    subdivision = forms.CharField(
        label=_("Part of the country"), required=False, max_length=16, help_text=_("Its code, such as BW or CA.")
    )
    days = DaysField(
        label=_("Days of your own"),
        required=False,
        help_text=_("One a line, such as “2026-12-24 Christmas Eve 09:00–12:00”. Without hours it is a day off."),
    )
    default = forms.BooleanField(
        label=_("The default calendar"), required=False, help_text=_("It counts where a rule names none.")
    )

    def __init__(self, *args: Any, is_default: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in DAYS.items():
            self.fields[name] = HoursField(label=label, required=False)
        countries = sorted(free_days.countries())
        self.fields["country"].choices = [("", _("none")), *((each, each) for each in countries)]  # type: ignore[attr-defined]
        self.fields["zone"].choices = [("", _("that of the organisation")), *zone_choices()]  # type: ignore[attr-defined]
        if is_default:
            del self.fields["default"]

    def week(self) -> Iterator[BoundField]:
        """The seven fields of hours."""
        return (self[name] for name in DAYS)

    def rest(self) -> Iterator[BoundField]:
        """The other fields, but the name and the zone."""
        return (self[name] for name in self.fields if name not in DAYS and name not in ("name", "zone"))

    def body(self) -> dict[str, Any]:
        """The calendar as `working_hours` takes it; only of a form that is valid."""
        sent = self.cleaned_data
        plain = {name: sent[name] for name in ("name", "zone", "country", "subdivision", "days")}
        return {**plain, "week": {name: sent[name] for name in DAYS}}

    def refuse(self, errors: Sequence[Mapping[str, Any]]) -> None:
        """Put what was refused beside the field it is about."""
        for each in errors:
            name = {"week": "monday"}.get(str(each["field"]), str(each["field"]))
            self.add_error(name if name in self.fields else None, str(each["message"]))


class RotationForm(Plain):
    """A rotation: who has the turns, in which order, and when hands change."""

    name = forms.CharField(label=_("Name"), max_length=200)
    every = forms.ChoiceField(label=_("Hands change"), choices=TURNS)
    handover = forms.TimeField(
        label=_("At"),
        input_formats=["%H:%M"],
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time", "class": "field short"}),
    )
    zone = forms.ChoiceField(label=_("Time zone"))
    first_day = forms.DateField(
        label=_("The first begins on"),
        input_formats=["%Y-%m-%d"],
        help_text=_("A weekly turn begins on that day of the week."),
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date", "class": "field short"}),
    )

    def __init__(self, *args: Any, members: int = 0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["zone"].choices = zone_choices()  # type: ignore[attr-defined]
        sent = sum(f"member{number}" in self.data for number in range(1, MAX_MEMBERS + 1))
        self.places = min(max(members + 2, sent, 4), MAX_MEMBERS)
        choices = [("", _("nobody")), *reviewer_choices()]
        for number in range(1, self.places + 1):
            self.fields[f"member{number}"] = forms.ChoiceField(
                label=_("%(number)s.") % {"number": number},
                choices=choices,
                required=False,
                widget=forms.Select(attrs={"class": "field short"}),
            )

    def order(self) -> Iterator[BoundField]:
        """The places in their order, the last ones empty."""
        return (self[f"member{number}"] for number in range(1, self.places + 1))

    def rest(self) -> Iterator[BoundField]:
        """The other fields."""
        return (self[name] for name in ("name", "every", "handover", "zone", "first_day"))

    def body(self) -> dict[str, Any]:
        """The rotation as `rotations` takes it; only of a form that is valid."""
        sent = self.cleaned_data
        places = (sent[f"member{number}"] for number in range(1, self.places + 1))
        return {
            "name": sent["name"],
            "every": sent["every"],
            "zone": sent["zone"],
            "handover": sent["handover"].strftime("%H:%M"),
            "first_day": sent["first_day"].isoformat(),
            "members": [member for member in places if member],
        }

    def refuse(self, errors: Sequence[Mapping[str, Any]]) -> None:
        """As above."""
        for each in errors:
            name = {"members": "member1"}.get(str(each["field"]), str(each["field"]))
            self.add_error(name if name in self.fields else None, str(each["message"]))


class OverrideForm(Plain):
    """Who is on call instead, in the reader's own zone."""

    member = forms.ChoiceField(label=_("Who is on call instead"))
    starts = forms.DateTimeField(
        label=_("From"),
        required=False,
        input_formats=[LOCAL],
        help_text=_("Empty means now."),
        widget=forms.DateTimeInput(format=LOCAL, attrs={"type": "datetime-local", "class": "field short"}),
    )
    until = forms.DateTimeField(
        label=_("Until"),
        input_formats=[LOCAL],
        widget=forms.DateTimeInput(format=LOCAL, attrs={"type": "datetime-local", "class": "field short"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["member"].choices = [("", _("Choose a reviewer")), *reviewer_choices()]  # type: ignore[attr-defined]


def reviewer_choices() -> list[tuple[str, str]]:
    """The active reviewers by name."""
    found = Member.objects.filter(active=True, roles__contains=["reviewer"]).select_related("person")
    return [(str(row.pk), row.name) for row in found.order_by("person__name", "id")]


def zone_choices() -> list[tuple[str, str]]:
    """The zones of the world."""
    return [(each, each) for each in sorted(available_timezones()) if "/" in each or each == "UTC"]
