"""The members of a tenant: found, added, changed."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from tenants import audit, naming, stamps
from tenants.actors import Actor
from tenants.audit_names import Action
from tenants.models import ROLES, Member, Person
from tenants.refusals import invalid, not_found
from tenants.scope import current


def member_for(person_id: UUID) -> Member | None:
    """The person's active membership of the tenant in scope, with the person, or None."""
    return Member.objects.select_related("person").filter(person_id=person_id, active=True).first()


def member(member_id: UUID) -> Member:
    """The member with this id, with the person; raises Refusal 404."""
    found = Member.objects.select_related("person").filter(pk=member_id).first()
    if found is None:
        raise not_found(_("There is no such member."))
    return found


def by_email(email: str) -> Member:
    """The member with this address; raises Refusal 404."""
    address = Person.objects.normalize_email(email)
    found = Member.objects.select_related("person").filter(person__email=address).first()
    if found is None:
        raise not_found(_("Nobody in this tenant has the address %(email)s.") % {"email": address})
    return found


def actor_of(found: Member) -> Actor:
    """The member as the one who acts."""
    return Actor(kind="person", id=str(found.person_id), name=found.name, member=found.pk)


def add(
    email: str,
    *,
    actor: Actor,
    roles: Sequence[str],
    name: str = "",
    password: str | None = None,
    channel: str = "",
) -> Member:
    """Make a person of this address a member. A known person keeps their name and password.

    Raises Refusal where a role is unknown or the person is a member already.
    """
    wanted = _known(roles)
    person = Person.objects.filter(email=Person.objects.normalize_email(email)).first()
    person = person or Person.objects.create_person(email, name=naming.demand(name), password=password)
    if Member.objects.filter(person=person).exists():
        raise invalid(_("This person is a member already."), code="already_member")
    found = Member.objects.create(tenant_id=current(), person=person, roles=wanted)
    _changed("member.added", found, actor=actor, detail={"email": person.email, "roles": wanted}, channel=channel)
    return found


def change(
    member_id: UUID,
    *,
    actor: Actor,
    roles: Sequence[str] | None = None,
    active: bool | None = None,
    channel: str = "",
) -> Member:
    """Change what a member may do here; raises Refusal 404, or 422 where no active admin would be left."""
    found = member(member_id)
    before = {"roles": list(found.roles), "active": found.active}
    found.roles = found.roles if roles is None else _known(roles)
    found.active = found.active if active is None else active
    found.save(update_fields=["roles", "active"])
    if not Member.objects.filter(active=True, roles__contains=["admin"]).exists():
        raise invalid(_("A tenant keeps at least one active admin."), code="last_admin")
    after = {"roles": list(found.roles), "active": found.active}
    _changed("member.changed", found, actor=actor, detail={"before": before, "after": after}, channel=channel)
    return found


def invitation(person: Person) -> str:
    """The link under which the person chooses a password. It works once, and for a few days."""
    key = f"{user_pk_to_url_str(person)}-{default_token_generator.make_token(person)}"
    uid, _dash, token = key.partition("-")
    path = reverse("account_reset_password_from_key", kwargs={"uidb36": uid, "key": token})
    return f"{settings.PUBLIC_URL}{path}"


def invitation_if_new(person: Person) -> str | None:
    """The invitation of a person who never chose a password; None for one who has."""
    return None if person.has_usable_password() else invitation(person)


def _known(roles: Sequence[str]) -> list[str]:
    unknown = set(roles) - set(ROLES)
    if unknown:
        names = {"names": ", ".join(sorted(unknown))}
        raise invalid(_("There is no such role: %(names)s.") % names, code="unknown_role")
    return [role for role in ROLES if role in roles]


def _changed(action: Action, found: Member, *, actor: Actor, detail: dict[str, Any], channel: str) -> None:
    stamps.bump()
    told = {**detail, "called": found.name}  # So that the entry says later what it was called now.
    audit.record(action, actor=actor, target=f"member:{found.pk}", detail=told, channel=channel)
