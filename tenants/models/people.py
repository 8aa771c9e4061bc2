"""Persons, their memberships and the groups of a tenant."""

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import Group as AuthGroup
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from tenants import ids
from tenants.models.base import TenantModel

ROLES = ("reviewer", "manager", "admin")


class PersonManager(BaseUserManager["Person"]):
    """Makes persons; their address is kept in lower case, since people type it as they please."""

    def create_person(self, email: str, *, name: str = "", password: str | None = None) -> "Person":
        """A new person; without a password none signs in as them until they choose one."""
        person = self.model(email=self.normalize_email(email), name=name)
        person.set_password(password)
        person.save(using=self._db)
        return person

    @classmethod
    def normalize_email(cls, email: str | None) -> str:
        """The address without surrounding space, in lower case."""
        return (email or "").strip().lower()

    def get_by_natural_key(self, username: str | None) -> "Person":
        """The person with this address, however it is capitalised."""
        return self.get(email=self.normalize_email(username))


class Person(AbstractBaseUser):
    """Somebody who signs in. What they may do lies in their memberships; there is no superuser."""

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now())

    objects: ClassVar[PersonManager] = PersonManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    is_staff = False
    is_superuser = False

    @property
    def groups(self) -> "models.QuerySet[AuthGroup]":
        """No global groups: a group belongs to a tenant (`Group`)."""
        return AuthGroup.objects.none()

    def get_full_name(self) -> str:
        """The name, or the address where there is none."""
        return self.name or self.email

    def get_short_name(self) -> str:
        """The first word of the name, or the address."""
        return self.get_full_name().split(" ")[0]

    def __str__(self) -> str:
        return self.get_full_name()


class Member(TenantModel):
    """A person in a tenant, with the roles they have there."""

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="memberships")
    roles = ArrayField(models.CharField(max_length=16, choices=[(role, role) for role in ROLES]))
    active = models.BooleanField(default=True)
    locale = models.CharField(max_length=16, blank=True)
    timezone = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "person"], name="one_membership_a_person"),
            models.CheckConstraint(condition=models.Q(roles__contained_by=list(ROLES)), name="known_roles"),
        ]

    @property
    def name(self) -> str:
        """The person's name, or their address."""
        return self.person.get_full_name()

    @property
    def email(self) -> str:
        """The person's address."""
        return self.person.email

    def has(self, *roles: str) -> bool:
        """Whether the member is active and has one of these roles."""
        return self.active and not set(roles).isdisjoint(self.roles)

    def __str__(self) -> str:
        return self.name


class Group(TenantModel):
    """A named set of members."""

    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "name"], name="one_group_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class GroupMember(TenantModel):
    """A member of a group."""

    group = models.ForeignKey(Group, models.CASCADE, related_name="memberships", db_constraint=False)
    member = models.ForeignKey(Member, models.CASCADE, related_name="groups", db_constraint=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "group", "member"], name="once_in_a_group"),
        ]
