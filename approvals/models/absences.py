"""Who stands in for whom, and when."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from tenants.models import Member, TenantModel


class Delegation(TenantModel):
    """A member's stand-in for a period."""

    member = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    stand_in = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    starts = models.DateTimeField()
    ends = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(condition=models.Q(ends__gt=models.F("starts")), name="delegation_has_time"),
            models.CheckConstraint(condition=~models.Q(member=models.F("stand_in")), name="delegation_to_another"),
        ]
