"""The forms of people, keys and the tenant's own settings."""

from typing import Any, ClassVar
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from tenants import keys
from tenants.models import ROLES
from tenants.pages import ROLES as ROLE_WORDS


class Plain(forms.Form):
    """A form whose fields look like those of the house; the browser's own messages stay out of the way."""

    use_required_attribute = False
    MARKED: ClassVar[tuple[type[forms.Widget], ...]] = (
        forms.TextInput,
        forms.NumberInput,
        forms.Textarea,
        forms.Select,
        forms.DateTimeInput,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field.widget, self.MARKED) and not isinstance(
                field.widget, forms.RadioSelect | forms.CheckboxSelectMultiple
            ):
                known = field.widget.attrs.get("class", "")
                field.widget.attrs["class"] = f"field {known}".strip()


class Invitation(Plain):
    """Somebody to be made a member."""

    email = forms.EmailField(label=_("E-mail"), max_length=254)
    name = forms.CharField(label=_("Name"), max_length=200, required=False)
    roles = forms.MultipleChoiceField(
        label=_("Roles"),
        choices=[(role, ROLE_WORDS[role]) for role in ROLES],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one role.")},
    )


class NewGroup(Plain):
    """A group's name."""

    name = forms.CharField(label=_("Name"), max_length=100)


class NewKey(Plain):
    """A key of the one who makes it, or a service key."""

    name = forms.CharField(label=_("Name"), max_length=100, help_text=_("What will use it, such as “ci”."))
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"),
        choices=[(each, each) for each in keys.SCOPES],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("The key may do what its scopes and your roles both allow."),
        error_messages={"required": _("Choose at least one scope.")},
    )
    service = forms.BooleanField(
        label=_("Service key"), required=False, help_text=_("It acts for itself, and can never decide.")
    )


class Organisation(Plain):
    """What a tenant settles for itself."""

    name = forms.CharField(label=_("Name"), max_length=200)
    timezone = forms.ChoiceField(label=_("Time zone"), choices=lambda: [(each, each) for each in zones()])
    locale = forms.ChoiceField(label=_("Language"), choices=settings.LANGUAGES)
    retention_days = forms.IntegerField(
        label=_("Finished runs are kept, in days"),
        min_value=1,
        max_value=36500,
        help_text=_("After that they are deleted. The audit log stays; what is personal in it is blanked."),
    )
    second_factor = forms.BooleanField(
        label=_("A one-time code for every answer to a critical request"), required=False
    )  # fmt: skip
    initiators_may_review = forms.BooleanField(
        label=_("Whoever started a run may answer its requests"),
        required=False,
        help_text=_("Never for critical ones. The request and the audit log say so."),
    )
    email = forms.BooleanField(label=_("Tell people by e-mail"), required=False)


def zones() -> list[str]:
    """The names of time zones that people choose from."""
    return sorted(each for each in available_timezones() if "/" in each or each == "UTC")
