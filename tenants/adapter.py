"""Sign-in by django-allauth: nobody signs up by themselves, they are invited."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Closed to sign-up: a person comes in by an invitation of an admin."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """Never."""
        return False


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Closed to sign-up as well: an identity provider signs in whoever is here already."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:  # noqa: ARG002
        """Never."""
        return False
