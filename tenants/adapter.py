"""Sign-in by django-allauth: nobody signs up by themselves, they are invited."""

from typing import Any

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal.ratelimit import parse_rates
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.http import HttpRequest
from django.utils.functional import lazy
from django.utils.translation import gettext as _

from tenants.mailing import Mail
from tenants.templatetags.look import span


def _too_many() -> str:
    longest = max((rate.duration for rate in parse_rates(app_settings.RATE_LIMITS.get("login_failed"))), default=0)
    return _("Too many failed attempts to sign in. Try again in %(time)s.") % {"time": span(longest)}


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Closed to sign-up: a person comes in by an invitation of an admin."""

    error_messages = DefaultAccountAdapter.error_messages | {"too_many_login_attempts": lazy(_too_many, str)()}

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def render_mail(
        self, template_prefix: str, email: str | list[str], context: dict[str, Any], headers: Any = None
    ) -> Mail:
        """The mail of this name, with a subject that every mail program reads the same."""
        made = super().render_mail(template_prefix, email, context, headers)
        alternatives = getattr(made, "alternatives", None)
        mail = Mail(
            made.subject, made.body, made.from_email, made.to, headers=made.extra_headers, alternatives=alternatives
        )
        mail.content_subtype = made.content_subtype
        return mail


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Closed to sign-up as well: an identity provider signs in whoever is here already."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:  # noqa: ARG002
        """Never."""
        return False
