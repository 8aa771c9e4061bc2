"""Every sign-in, and every one that failed, is entered in the audit of the person's tenants."""

import logging
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.signals import user_logged_in, user_login_failed

from tenants import audit, doors
from tenants.actors import ANONYMOUS, Actor
from tenants.models import Person
from tenants.scope import scope

logger = logging.getLogger(__name__)


def connect() -> None:
    """Listen to Django's sign-in signals from now on."""
    user_logged_in.connect(record_sign_in)
    user_login_failed.connect(record_failure)


def record_sign_in(*, user: Person, **_: Any) -> None:
    """The person signed in: an entry in each of their tenants."""
    for membership in doors.memberships(user.pk):
        actor = Actor(kind="person", id=str(user.pk), name=user.get_full_name(), member=membership.member)
        with scope(membership.tenant):
            audit.record("person.signed_in", actor=actor, target=f"person:{user.pk}", channel="page")


def record_failure(*, credentials: Mapping[str, Any], **_: Any) -> None:
    """A sign-in failed: nobody known acted, on the person named. An unknown address is in the log alone."""
    person = _named(credentials)
    if person is None:
        logger.warning("A sign-in failed for an address nobody has.")
        return
    for membership in doors.memberships(person.pk):
        with scope(membership.tenant):
            audit.record(
                "person.sign_in_failed",
                actor=ANONYMOUS,
                target=f"person:{person.pk}",
                detail={"email": person.email},
                refused=True,
                channel="page",
            )


def _named(credentials: Mapping[str, Any]) -> Person | None:
    address = credentials.get("email") or credentials.get("username") or ""
    return Person.objects.filter(email=Person.objects.normalize_email(str(address))).first()
