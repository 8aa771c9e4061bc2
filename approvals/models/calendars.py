"""When people work: a tenant's calendars."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from tenants.fields import ExactJSONField
from tenants.models import TenantModel


class Calendar(TenantModel):
    """Working hours in a zone, "" for the tenant's own.

    `week` is seven lists of `["09:00", "17:00"]`, Monday first. `days` are the tenant's own:
    `[{date, name, hours}]`, whose hours replace those of the weekday and of a holiday; none mean a day off.
    """

    name = models.TextField()
    zone = models.TextField(blank=True)
    week = ExactJSONField(default=list)
    country = models.CharField(max_length=2, blank=True)
    subdivision = models.CharField(max_length=16, blank=True)
    days = ExactJSONField(default=list)
    is_default = models.BooleanField(default=False)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "name"],
                condition=models.Q(archived_at__isnull=True),
                name="one_calendar_a_name",
            ),
            models.UniqueConstraint(
                fields=["tenant"], condition=models.Q(is_default=True), name="one_default_calendar"
            ),
            models.CheckConstraint(
                condition=models.Q(is_default=False) | models.Q(archived_at__isnull=True),
                name="default_calendar_stays",
            ),
        ]

    def __str__(self) -> str:
        return self.name
