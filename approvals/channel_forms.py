"""The forms of webhooks, chat channels and one's own notices."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from approvals import wishes
from approvals.channels import SCHEMES
from approvals.event_words import EVENT_WORDS
from approvals.notifications import outbox
from tenants.event_names import GROUPS
from tenants.forms import Plain, zones

SERVICES = {
    "slack": "Slack",
    "teams": "Microsoft Teams",
    "discord": "Discord",
    "telegram": "Telegram",
    "googlechat": "Google Chat",
    "mattermost": "Mattermost",
    "rocketchat": "Rocket.Chat",
    "matrix": "Matrix",
    "zulip": "Zulip",
    "whatsapp": "WhatsApp",
    "signal": "Signal",
    "ntfy": "ntfy",
    "pushover": "Pushover",
    "json": _("Your own service (JSON)"),
}
GROUP_WORDS = {
    "approval": _("About requests"),
    "run": _("About runs"),
    "step": _("About steps"),
    "notification": _("About messages to people"),
}
KIND_WORDS = {
    outbox.ASKED: _("I am asked"),
    outbox.AGAIN: _("I am asked again"),
    outbox.CLOSING: _("The time to answer ends soon"),
    outbox.LAPSED: _("My vote no longer counts"),
    outbox.NOBODY: _("Too few people can answer"),
    outbox.UNREADABLE: _("A rule could not be evaluated"),
    outbox.ENDED: _("How a question about a run of mine ended"),
    outbox.UNKNOWN: _("An unknown outcome that I may settle"),
}


ROOM_WORDS = {
    outbox.ASKED: _("Somebody is asked"),
    outbox.AGAIN: _("Somebody is asked again"),
    outbox.CLOSING: _("The time to answer ends soon"),
    outbox.NOBODY: _("Too few people can answer"),
    outbox.UNREADABLE: _("A rule could not be evaluated"),
    outbox.DECIDED: _("What it was told of is decided"),
}


class WebhookForm(Plain):
    """Where to, and which events, by what they are about."""

    url = forms.CharField(
        label=_("Address"),
        max_length=2000,
        widget=forms.TextInput(attrs={"inputmode": "url", "class": "code"}),
        help_text=_("It begins with https:// and leads outside."),
    )
    name = forms.CharField(label=_("Name"), max_length=100, required=False, help_text=_("Empty means its host."))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for group, verbs in GROUPS.items():
            self.fields[f"events.{group}"] = forms.MultipleChoiceField(
                label=GROUP_WORDS[group],
                choices=[_event(f"{group}.{verb}") for verb in verbs],
                widget=forms.CheckboxSelectMultiple,
                required=False,
            )

    def events(self) -> list[str]:
        """The events that were chosen."""
        return [name for group in GROUPS for name in self.cleaned_data[f"events.{group}"]]


def _event(name: str) -> tuple[str, SafeString]:
    """The event with its words, and as a program reads it."""
    return name, format_html('{} <code class="small quiet">{}</code>', EVENT_WORDS[name], name)


class ChatForm(Plain):
    """A channel of a chat service."""

    kind = forms.ChoiceField(label=_("Service"), choices=[(kind, SERVICES[kind]) for kind in SCHEMES])
    name = forms.CharField(
        label=_("Name"), max_length=100, help_text=_("Letters, digits, dots, dashes and underscores.")
    )
    url = forms.CharField(
        label=_("Address"),
        max_length=2000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "class": "field code"}),
        help_text=_(
            "As apprise writes it, such as slack://A/B/C/#refunds. It is kept encrypted and never shown again."
        ),
    )


class RoomForm(ChatForm):
    """A channel that many read, and what it hears."""

    kinds = forms.MultipleChoiceField(
        label=_("It is told when"),
        choices=list(ROOM_WORDS.items()),
        initial=list(ROOM_WORDS),
        widget=forms.CheckboxSelectMultiple,
    )


class NoticesForm(Plain):
    """How a member wishes to be told."""

    locale = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=[("", _("That of the organisation")), *settings.LANGUAGES],
    )
    timezone = forms.ChoiceField(
        label=_("Time zone"),
        required=False,
        choices=lambda: [("", _("That of the organisation")), *((each, each) for each in zones())],
    )
    email = forms.MultipleChoiceField(
        label=_("Tell me by e-mail"),
        required=False,
        choices=[(kind, KIND_WORDS[kind]) for kind in wishes.KINDS],
        widget=forms.CheckboxSelectMultiple,
    )
    chat = forms.MultipleChoiceField(
        label=_("Tell me by my own chat channels"),
        required=False,
        choices=[(kind, KIND_WORDS[kind]) for kind in wishes.KINDS],
        widget=forms.CheckboxSelectMultiple,
    )
    digest = forms.ChoiceField(
        label=_("What can wait"),
        choices=[
            ("none", _("comes at once")),
            ("hourly", _("comes together, each hour")),
            ("daily", _("comes together, at 8:00 each day")),
        ],
        help_text=_(
            "What cannot wait comes at once: a raised level, critical risk, too few people, a deadline that is near, "
            "an unknown outcome."
        ),
    )
    quiet_from = forms.TimeField(
        label=_("Quiet from"),
        required=False,
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time", "class": "field short"}),
    )
    quiet_until = forms.TimeField(
        label=_("Quiet until"),
        required=False,
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time", "class": "field short"}),
        help_text=_("What can wait comes when the quiet hours end, in your own time zone."),
    )

    def clean(self) -> dict[str, Any]:
        """Quiet hours have both ends or none."""
        sent: dict[str, Any] = super().clean() or self.cleaned_data
        if (sent.get("quiet_from") is None) != (sent.get("quiet_until") is None):
            self.add_error("quiet_until", _("Quiet hours have a beginning and an end."))
        return sent

    def changes(self) -> dict[str, Any]:
        """The wishes, as `wishes.change` takes them."""
        sent = self.cleaned_data
        quiet = {"from": sent["quiet_from"], "until": sent["quiet_until"]} if sent["quiet_from"] is not None else None
        ways = {way: set(sent[way]) for way in wishes.TRANSPORTS}
        kinds = {kind: {way: kind in ways[way] for way in wishes.TRANSPORTS} for kind in wishes.KINDS}
        spoken = {name: sent[name] or None for name in ("locale", "timezone")}
        return {**spoken, "digest": sent["digest"], "quiet": quiet, "kinds": kinds}
