"""Who is on call: rotations, the people of each in their order, and exceptions for a period."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from tenants.models import Member, TenantModel


class Rotation(TenantModel):
    """One person at a time, handed over daily or weekly at a local time.

    The first of its members begins at `handover` in `zone` on `first_day`, whose weekday is the day of a weekly
    hand-over. Before that nobody is on call but by an override.
    """

    name = models.TextField()
    zone = models.TextField()
    every = models.CharField(max_length=8)
    handover = models.TimeField()
    first_day = models.DateField()
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "name"],
                condition=models.Q(archived_at__isnull=True),
                name="one_rotation_a_name",
            ),
            models.CheckConstraint(condition=models.Q(every__in=("day", "week")), name="rotation_turns_known"),
        ]

    def __str__(self) -> str:
        return self.name


class RotationMember(TenantModel):
    """A member's place in a rotation's order."""

    rotation = models.ForeignKey(Rotation, models.CASCADE, related_name="places", db_constraint=False)
    member = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    position = models.PositiveIntegerField()

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "rotation", "position"], name="one_member_a_place_in_rotation"),
        ]


class RotationOverride(TenantModel):
    """A member who is on call for a period, whoever's turn it is; of two the one made later counts."""

    rotation = models.ForeignKey(Rotation, models.CASCADE, related_name="overrides", db_constraint=False)
    member = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    starts = models.DateTimeField()
    ends = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(condition=models.Q(ends__gt=models.F("starts")), name="override_has_time"),
        ]
