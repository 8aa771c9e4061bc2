"""What a tenant set: its rules with their versions, and its escalation policies."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from approvals.models.calendars import Calendar
from tenants.fields import ActorField, ExactJSONField
from tenants.models import TenantModel


class PolicyRule(TenantModel):
    """A tenant's rule through all its versions; `live` is the number of the one that counts, if any."""

    name = models.TextField()
    position = models.IntegerField(default=0)
    is_default = models.BooleanField(default=False)
    live = models.PositiveIntegerField(null=True)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant"], condition=models.Q(is_default=True), name="one_default_rule"),
        ]

    def __str__(self) -> str:
        return self.name


class PolicyVersion(TenantModel):
    """One version of a rule, with its author; it never changes once written."""

    rule = models.ForeignKey(PolicyRule, models.CASCADE, related_name="versions", db_constraint=False)
    number = models.PositiveIntegerField()
    body = ExactJSONField()
    note = models.TextField(blank=True)
    author = ActorField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "rule", "number"], name="one_rule_version_a_number"),
        ]


class EscalationPolicy(TenantModel):
    """Who is asked, in what order, after which delay: `levels` is [{after, groups, members, rotations}].

    `after` counts seconds of the clock, with `working_time` those of `calendar` (the tenant's default if none).
    """

    name = models.TextField()
    levels = ExactJSONField(default=list)
    repeats = models.PositiveIntegerField(default=0)
    working_time = models.BooleanField(default=False, db_default=False)
    calendar = models.ForeignKey(Calendar, models.PROTECT, null=True, related_name="+", db_constraint=False)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "name"],
                condition=models.Q(archived_at__isnull=True),
                name="one_escalation_a_name",
            ),
        ]

    def __str__(self) -> str:
        return self.name
